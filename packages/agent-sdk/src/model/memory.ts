import { cut, type TranscriptMessage } from '@meup/folds'
import type { EnvelopeOf, Kind } from '@meup/protocol'
import { type ConversationLog, isPublic } from '../agent/conversation-log.js'
import { quoteText } from '../agent/frame-message.js'
import {
  charsPerToken,
  type HistoryMessage,
  type MemoryBounds,
  takeLatest,
  toHistoryMessages,
  toText,
} from '../agent/history.js'
import type { Spent } from './dialogue.js'
import { NoAnswerError } from './errors.js'
import type { Compaction } from './options.js'
import type { Recorder, Summary } from './recorder.js'
import { cutMiddle } from './results.js'

type Chat = EnvelopeOf<typeof Kind.chat>

interface MemoryOptions {
  readonly log: ConversationLog
  readonly bounds: Required<MemoryBounds>
  readonly compact: Compaction
  readonly space: { readonly id: string; readonly welcome: { readonly space: { readonly epoch: string } } }
}

/** Requests a summary of a text from a model. Rejects if the model does not write one. */
export type Summarize = (text: string) => Promise<{ readonly text: string; readonly spent: Spent }>

interface Recalling {
  readonly summarize: Summarize
  /** Aborted when the summary is no longer needed. */
  readonly signal: AbortSignal
  /** Called if no summary could be written; the oldest messages are then omitted. */
  onFailure(error: unknown): void
}

/** As long as there is no summary, messages up to this multiple of the memory's bounds are read, to be summarized. */
const lookBack = 4
/** Maximum characters of a summary, and its maximum part of the memory. */
const [maxSummaryChars, summaryPart] = [8000, 1 / 2]

/** The line before the summary in the prompt. */
const summaryLine = 'Notes on what was said before this:'

/** The memory of a model: a summary of older messages, followed by the latest messages verbatim. */
export class Memory {
  readonly #options: MemoryOptions
  #recorder: Recorder | undefined
  #summary: Summary | undefined
  /** Public messages up to this seq are summarized or omitted. */
  #through = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: MemoryOptions) {
    this.#options = options
    if (!isEmpty(options.bounds)) options.log.listen()
  }

  /** Reads the log before the first turn. `recorder`: stores summaries, and may already contain one of this log. */
  async open(recorder: Recorder | undefined): Promise<void> {
    const { space, bounds } = this.#options
    this.#recorder = recorder
    this.#setSummary(recorder?.findSummary(space.welcome.space.epoch))
    if (!isEmpty(bounds)) await this.#alone(() => this.#read(undefined))
  }

  /** Returns the messages before a turn, for its model. Rejects if the signal is aborted. */
  async recall(trigger: Chat, recalling: Recalling): Promise<readonly HistoryMessage[]> {
    const { bounds, compact, space } = this.#options
    if (isEmpty(bounds)) return []
    if (compact === 'summary') await this.#alone(() => this.#fit(trigger, recalling))
    const known = await this.#read(trigger)
    const shown = takeLatest(
      known.filter((message) => !isPublic(message) || message.source.seq > this.#through),
      bounds,
    )
    const notes = this.#summary && `${summaryLine}\n${quoteText(this.#summary.text)}`
    return [
      ...(notes === undefined ? [] : [{ role: 'user' as const, content: notes }]),
      ...toHistoryMessages(shown, space.id),
    ]
  }

  /** Summarizes all public messages. Rejects if that fails. */
  compact(summarize: Summarize): Promise<void> {
    return this.#alone(async () => {
      const open = this.#selectOpen(await this.#read(undefined))
      if (open.length > 0) await this.#summarize(open, summarize)
    })
  }

  /** Runs tasks one after another, so that concurrent turns do not summarize the same messages. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /** If the messages exceed the bounds of the memory, summarizes the oldest ones, so that the others fit in half the bounds. */
  async #fit(trigger: Chat, { summarize, signal, onFailure }: Recalling): Promise<void> {
    const { bounds } = this.#options
    signal.throwIfAborted()
    const open = this.#selectOpen(await this.#read(trigger))
    if (takeLatest(open, bounds).length === open.length) return
    const half = { messages: Math.floor(bounds.messages / 2), tokens: Math.floor(bounds.tokens / 2) }
    const out = open.slice(0, open.length - takeLatest(open, half).length)
    try {
      await this.#summarize(out, summarize)
    } catch (error) {
      signal.throwIfAborted()
      this.#through = out.at(-1)?.source.seq ?? this.#through
      onFailure(error)
    }
  }

  async #summarize(out: readonly TranscriptMessage[], summarize: Summarize): Promise<void> {
    const { log, bounds, space } = this.#options
    // Without the log it is unknown whether summarized messages were erased.
    if (!Number.isFinite(log.knownFrom)) throw new NoAnswerError('unread_log', {})
    const { epoch } = space.welcome.space
    const place = { epoch, through: out.at(-1)?.source.seq ?? 0, asOf: log.head }
    const earlier = this.#summary && `${summaryLine}\n${quoteText(this.#summary.text)}\n\n`
    const said = cutMiddle(toText(out), lookBack * bounds.tokens * charsPerToken)
    const { text, spent } = await summarize(`${earlier ?? ''}${said}`)
    const maxChars = Math.min(maxSummaryChars, bounds.tokens * charsPerToken * summaryPart)
    const summary = { ...place, text: cut(text, maxChars) }
    // Discards the new summary if messages were erased while it was written.
    if (epoch !== space.welcome.space.epoch || !log.holds(summary)) return
    this.#setSummary(summary)
    this.#recorder?.keepSummary(summary, spent)
  }

  #selectOpen(messages: readonly TranscriptMessage[]): TranscriptMessage[] {
    return messages.filter((message) => isPublic(message) && message.source.seq > this.#through)
  }

  /** Reads the messages before a turn. If the summary is outdated, discards it and reads the summarized messages again. */
  async #read(trigger: Chat | undefined): Promise<readonly TranscriptMessage[]> {
    const { log, bounds } = this.#options
    const wanted = { messages: lookBack * bounds.messages, tokens: lookBack * bounds.tokens }
    const isEnough = (messages: readonly TranscriptMessage[]): boolean =>
      this.#summary === undefined
        ? takeLatest(messages, wanted).length < messages.length
        : log.knownFrom <= this.#summary.asOf + 1
    const messages = await log.recall(trigger, isEnough)
    if (this.#summary === undefined || log.holds(this.#summary)) return messages
    this.forget()
    return log.recall(trigger, isEnough)
  }

  /** Discards the summary, for example when the log was replaced. */
  forget(): void {
    this.#setSummary(undefined)
  }

  #setSummary(summary: Summary | undefined): void {
    this.#summary = summary
    this.#through = summary?.through ?? 0
  }
}

const isEmpty = ({ messages, tokens }: Required<MemoryBounds>): boolean => messages === 0 || tokens === 0
