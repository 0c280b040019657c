import {
  type AnyEnvelope,
  correlations,
  getErrorMessage,
  isThought,
  Kind,
  omitUndefined,
} from '@meup/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { Notice } from '../client/errors.js'
import type { Content, PromptContent, SentMessage, SummaryContent } from '../transcript/content.js'
import type { Mask } from '../transcript/mask.js'
import type { CommitDraft, CommitLink, EnvelopeLink, TranscriptStore } from '../transcript/store.js'
import type { CallResult, ModelStep, SentPrompt, Spent } from './dialogue.js'
import type { TranscriptMode } from './options.js'

export type Summary = Omit<SummaryContent, 'content_type'>

interface RecorderOptions {
  readonly space: string
  readonly mode: Exclude<TranscriptMode, 'off'>
  readonly mask: Mask
  readonly now: () => number
  /** Called once, if storing fails and the transcript ends. */
  readonly onError: (error: unknown) => void
}

/** Maximum failed turns that are remembered until the notice to their asker is sent, to link it to the turn. */
const maxFailed = 100
/** Milliseconds for which links between envelopes and commits are collected before they are stored. */
const linkMs = 100

/** Stores prompts, reasoning and answers of a model. If storing fails, the agent continues without a transcript. */
export class Recorder {
  readonly #store: TranscriptStore
  readonly #options: RecorderOptions
  /** Failed turns whose notice to the asker, that there is no answer, has not been sent yet, by id of the trigger. */
  readonly #failed = new Map<string, TurnRecorder>()
  #isOver = false

  constructor(store: TranscriptStore, options: RecorderOptions) {
    this.#store = store
    this.#options = options
  }

  /**
   * Starts the record of a turn. `trigger`: id of the message to answer. `context`: path of the run in which the model works on
   * it.
   */
  begin(trigger: string, context: string | undefined): TurnRecorder {
    const place = { turn: trigger, ...omitUndefined({ context }) }
    return new TurnRecorder(this.#options, place, {
      attempt: (work) => this.#attempt(work),
      onFailure: (turn) => {
        this.#failed.set(trigger, turn)
        if (this.#failed.size > maxFailed) this.#failed.delete(this.#failed.keys().next().value ?? '')
      },
    })
  }

  /** Returns the latest summary of the log with this epoch. */
  findSummary(epoch: string): Summary | undefined {
    return this.#attempt((store) => {
      for (const { content } of store.summaries?.() ?? []) {
        const { content_type: _, ...summary } = content
        if (summary.epoch === epoch) return summary
      }
      return undefined
    })
  }

  keepSummary(summary: Summary, usage: Spent): void {
    const { space, now, mask } = this.#options
    const content = { content_type: 'summary' as const, ...summary, text: mask.text(summary.text) }
    const metadata = { at: new Date(now()).toISOString(), space }
    this.#attempt((store) => store.append([{ content, metadata, usage }]))
  }

  /** Links the notice about a missing answer to its turn. Called with every envelope of this participant. */
  onOwnEnvelope(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.chat || this.#failed.size === 0) return
    for (const id of correlations(envelope)) {
      const turn = this.#failed.get(id)
      this.#failed.delete(id)
      turn?.link(envelope)
      turn?.settle()
    }
  }

  close(): void {
    this.#isOver = true
    this.#store.close()
  }

  #attempt<Result>(work: (store: TranscriptStore) => Result): Result | undefined {
    if (this.#isOver) return undefined
    try {
      return work(this.#store)
    } catch (error) {
      this.#isOver = true
      const message = `the transcript ends here: ${getErrorMessage(error)}`
      this.#options.onError(new Notice(message, { cause: error }))
      return undefined
    }
  }
}

interface Place {
  readonly turn: string
  readonly context?: string
}

interface TurnKeeper {
  /** Runs an operation on the store; does nothing once the transcript has ended. */
  attempt<Result>(work: (store: TranscriptStore) => Result): Result | undefined
  onFailure(turn: TurnRecorder): void
}

/**
 * Records one turn. Masking and storing are queued as jobs, which run while the agent waits for the model or a tool; `settle`
 * runs the remaining ones.
 */
export class TurnRecorder {
  readonly #options: RecorderOptions
  readonly #keeper: TurnKeeper
  readonly #place: Place
  readonly #jobs: (() => void)[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #links: CommitLink[] = []
  #linkTimer: ReturnType<typeof setTimeout> | undefined
  /** Number of the step within this turn, starting at 1. */
  #step = 0
  /** Whether the last prompt was recorded, but not yet the model's output for it. */
  #isAsking = false
  /** Messages and tools of the last prompt as JSON, and the hash of the tools. */
  #sent: { readonly messages: readonly string[]; readonly tools: string; readonly hash: string } = {
    messages: [],
    tools: '',
    hash: '',
  }
  #head: string | undefined
  /** Envelopes that were sent before the commit that they result from was stored, such as live thoughts of an output. */
  #early: EnvelopeLink[] = []

  constructor(options: RecorderOptions, place: Place, keeper: TurnKeeper) {
    this.#options = options
    this.#place = place
    this.#keeper = keeper
  }

  sent(prompt: SentPrompt): void {
    this.#do(() => {
      this.#step++
      this.#isAsking = true
      this.#commit([{ content: this.#toPrompt(prompt) }])
    })
  }

  /** Commits the thoughts of a step, then its text and calls. */
  answered(step: ModelStep, ms: number): void {
    this.#do(() => {
      const { text, calls, thoughts, spent, shown, end, reason } = step
      const { mask } = this.#options
      this.#isAsking = false
      const reasoning = thoughts.map(({ text, format, attached }): CommitDraft => {
        const kept = attached === undefined ? {} : { metadata: { attached: mask.json(attached) } }
        const sealed = text === '' ? { message: '(only its provider can read it)' } : {}
        return { content: { content_type: 'reasoning', text: mask.text(text), format }, ...sealed, ...kept }
      })
      const toolCalls = calls.map(({ id, name, input }) => ({
        id,
        name,
        arguments: mask.json(input) ?? null,
      }))
      const content: Content = {
        content_type: 'assistant',
        text: mask.text(text),
        ...(toolCalls.length > 0 && { toolCalls }),
      }
      const { input, output } = spent
      const usage = input + output > 0 ? { usage: spent } : {}
      const metadata = { ms, end, ...omitUndefined({ reason, shown }) }
      this.#commit([...reasoning, { content, metadata, ...usage }])
    })
  }

  results(results: readonly CallResult[]): void {
    this.#do(() =>
      this.#commit(
        results.map(({ id, name, text, media, isError }) => ({
          content: {
            content_type: 'tool',
            callId: id,
            name,
            text: this.#options.mask.text(text),
            ...(isError && { isError }),
          },
          ...(media.length > 0 && {
            metadata: { media: media.map(({ mediaType, data }) => ({ mediaType, ...measureText(data) })) },
          }),
        })),
      ),
    )
  }

  failed(error: unknown): void {
    this.#do(() => {
      this.#isAsking = false
      this.#commitError(getErrorMessage(error))
    })
    this.#keeper.onFailure(this)
  }

  /** Links an envelope of this turn to the last commit; a thought that is sent during a step, to the output of that step. */
  link({ id, kind }: AnyEnvelope): void {
    this.#do(() => {
      const isEarly = this.#head === undefined || (this.#isAsking && isThought(kind))
      if (isEarly) this.#early.push({ id, kind })
      else this.#link([{ id, kind }])
    })
  }

  /** Runs the remaining jobs. Returns the hash of the turn's last commit, which covers all earlier ones. */
  settle(): string | undefined {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) this.#try(job)
    this.#writeLinks()
    return this.#head
  }

  #do(job: () => void): void {
    this.#jobs.push(job)
    this.#timer ??= setTimeout(() => this.#work())
  }

  /** Runs one job, and schedules the next one, so that other work is not delayed for long. */
  #work(): void {
    this.#timer = undefined
    const job = this.#jobs.shift()
    if (job !== undefined) this.#try(job)
    if (this.#jobs.length > 0) this.#timer ??= setTimeout(() => this.#work())
  }

  /**
   * Runs a job. It may fail because of a model's output, such as arguments nested a thousand levels deep; the other jobs are
   * still run.
   */
  #try(job: () => void): void {
    try {
      job()
    } catch (error) {
      this.#commitError(`This step could not be kept: ${getErrorMessage(error)}`)
    }
  }

  #commitError(message: string): void {
    this.#commit([{ content: { content_type: 'error', text: this.#options.mask.text(message) } }])
  }

  #commit(drafts: readonly CommitDraft[]): void {
    const { space, now } = this.#options
    const place = { at: new Date(now()).toISOString(), space, ...this.#place, step: this.#step }
    const whole = drafts.map((draft) => ({ ...draft, metadata: { ...place, ...draft.metadata } }))
    const commits = this.#keeper.attempt((store) => store.append(whole))
    const last = commits?.at(-1)
    // `undefined` if storing failed: an earlier hash would not cover the missing entry.
    this.#head = last?.hash
    if (last !== undefined && last.content.content_type !== 'prompt') this.#link(this.#early.splice(0))
  }

  /** Links envelopes to the last commit. */
  #link(envelopes: readonly EnvelopeLink[]): void {
    const hash = this.#head
    if (hash === undefined || envelopes.length === 0) return
    this.#links.push(...envelopes.map((envelope) => ({ ...envelope, hash })))
    this.#linkTimer ??= setTimeout(() => this.#writeLinks(), linkMs)
  }

  #writeLinks(): void {
    clearTimeout(this.#linkTimer)
    this.#linkTimer = undefined
    const links = this.#links.splice(0)
    if (links.length > 0) this.#keeper.attempt((store) => store.link(links))
  }

  #toPrompt({ messages, tools, settings, baseURL, ...model }: SentPrompt): PromptContent {
    const { mask, mode } = this.#options
    const isFull = mode === 'full'
    const last = this.#sent
    const offered = JSON.stringify(tools)
    const areSameTools = offered === last.tools
    const hash = areSameTools ? last.hash : measureText(offered).hash
    const all = messages.map((message) => JSON.stringify(message))
    this.#sent = { messages: all, tools: offered, hash }
    // Messages with which the last prompt began as well are not stored again. These may be few, because messages that no longer
    // fit are dropped from the middle.
    const firstNew = all.findIndex((json, index) => json !== last.messages[index])
    const earlier = firstNew < 0 ? all.length : firstNew
    const added = messages.slice(earlier).map((message, index): SentMessage => {
      const json = all[earlier + index] ?? ''
      return { role: message.role, ...measureText(json), ...(isFull && { message: mask.json(message) }) }
    })
    const chars = added.reduce((sum, each) => sum + each.chars, 0)
    const counts = [`${added.length} ${earlier === 0 ? '' : 'more '}messages`, `${chars} characters`]
    return {
      content_type: 'prompt',
      text: `${[...counts, `${tools.length} tools`].join(', ')} to ${model.model}`,
      ...model,
      ...(baseURL !== undefined && { baseURL: mask.text(baseURL) }),
      settings: mask.json(settings) as Record<string, unknown>,
      earlier,
      messages: added,
      tools: {
        count: tools.length,
        hash,
        ...(isFull && !areSameTools && { offered: tools.map((tool) => mask.json(tool)) }),
      },
    }
  }
}

export const measureText = (text: string): { readonly chars: number; readonly hash: string } => ({
  chars: text.length,
  hash: bytesToHex(sha256(utf8ToBytes(text))),
})
