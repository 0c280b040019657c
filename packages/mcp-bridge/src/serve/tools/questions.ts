import { randomUUID } from 'node:crypto'
import type { Answer, ChatOptions, SpaceClient, WaitOptions } from '@meup/agent-sdk'
import {
  type AnswerEvent,
  Bounded,
  brief,
  type Description,
  defaultGuard,
  describe,
  onOneLine,
  sentence,
  TurnStream,
} from '@meup/folds'
import { type AnyEnvelope, Kind } from '@meup/protocol'

/** A question that was sent. Its client may resume waiting for the answer. */
export interface SentQuestion {
  readonly id: string
  readonly isTask: boolean
  readonly answer: Promise<Answer>
  /** Called with thoughts about the question and with parts of its answer; `undefined` = no client is waiting. */
  listener: ((report: string) => void) | undefined
  /**
   * Ids of proposals about which the client's user is not asked: they were open before the question, or the user was already
   * asked.
   */
  readonly seen: Set<string>
  /** Cancels the question, and notifies its addressees. */
  cancel(reason: string): void
}

interface Asking {
  /** Id of the message; default: a new one. */
  readonly id?: string
  /** The question is a task, so it stays open if the client disconnects. */
  readonly isTask?: boolean
  readonly to?: readonly string[]
  readonly timeoutMs: number
  readonly seen: Iterable<string>
}

/** Maximum questions that are kept for clients to resume; the oldest are dropped, because their clients may never do so. */
const maxQuestions = 1000
const maxThoughtChars = 2000
/**
 * Minimum characters of a part of an answer that is reported as progress, except of the first part; maximum number of parts.
 */
const [minPartChars, maxParts] = [100, 100]

/** The questions of all MCP clients. A question may stay open longer than the MCP request that sent it. */
export class SentQuestions {
  readonly #space: SpaceClient
  readonly #known = new Bounded<SentQuestion>(maxQuestions)
  readonly #open = new Set<SentQuestion>()
  readonly #cancellations = new Set<Promise<unknown>>()

  constructor(space: SpaceClient) {
    this.#space = space
  }

  get(id: string): SentQuestion | undefined {
    return this.#known.get(id)
  }

  /** Sends a question. `answer` rejects like `SpaceClient.ask`. */
  ask(message: string, { id = randomUUID(), isTask = false, to, timeoutMs, seen }: Asking): SentQuestion {
    const abort = new AbortController()
    const options = { id, timeoutMs, signal: abort.signal, ...(to && { to }) }
    const report = (text: string): void => question.listener?.(text)
    const answer = this.#ask(message, options, report).finally(() => this.#open.delete(question))
    answer.catch(() => {}) // The client may have disconnected, so that no caller awaits it.
    const cancel = (reason: string): void => {
      if (!this.#open.delete(question)) return
      this.#sendCancel(id, to, reason)
      abort.abort(reason)
    }
    const question: SentQuestion = { id, isTask, answer, listener: undefined, seen: new Set(seen), cancel }
    this.#known.set(id, question)
    this.#open.add(question)
    return question
  }

  /** Waits for the answer. A method of its own, so that the observer is garbage-collected as soon as there is an answer. */
  async #ask(
    message: string,
    options: ChatOptions & WaitOptions & { readonly id: string },
    report: (text: string) => void,
  ): Promise<Answer> {
    const observer = new QuestionObserver({ id: options.id, from: this.#space.id }, report)
    const onEnvelope = (envelope: AnyEnvelope): void => observer.onEnvelope(envelope)
    this.#space.on('envelope', onEnvelope)
    try {
      return await this.#space.ask(message, options)
    } finally {
      this.#space.off('envelope', onEnvelope)
    }
  }

  /** Cancels all questions except tasks. Resolves when the cancellations are in the log. */
  async close(reason: string): Promise<void> {
    for (const question of this.#open) if (!question.isTask) question.cancel(reason)
    await Promise.allSettled(this.#cancellations)
  }

  /** Sends the cancellation of a question, if this participant has the capability. */
  #sendCancel(id: string, to: readonly string[] | undefined, reason: string): void {
    const draft = { kind: Kind.chatCancel, correlationId: id, payload: { reason }, ...(to && { to }) }
    if (!this.#space.can(draft)) return
    const settle = (): void => void this.#cancellations.delete(cancellation)
    const cancellation: Promise<void> = this.#space.send(draft).then(settle, settle)
    this.#cancellations.add(cancellation)
  }
}

/** Reports thoughts about a question, and its answers while they are written. */
class QuestionObserver {
  readonly #report: (report: string) => void
  readonly #turns: TurnStream
  /** The text of each answer that has not been reported yet, by agent. `isBegun`: an earlier part of it was reported. */
  readonly #written = new Map<string, { readonly isBegun: boolean; readonly rest: string }>()
  #parts = 0

  constructor(question: { readonly id: string; readonly from: string }, report: (report: string) => void) {
    this.#report = report
    this.#turns = new TurnStream(question, { maxMessages: maxParts })
  }

  onEnvelope(envelope: AnyEnvelope): void {
    for (const event of this.#turns.apply(envelope)) {
      if (event.type === 'delta') this.#onDelta(event)
      if (event.type === 'handedOver') this.#report(event.text)
      if (event.type !== 'begun' && event.type !== 'thought') continue
      const thought = describe(event.envelope, defaultGuard, { owner: event.agent })
      if (onOneLine(thought.detail) !== '') this.#send(thought)
    }
  }

  /** Reports the beginning of an answer immediately, and further text in larger parts. */
  #onDelta({ agent, envelope, isNew, text }: AnswerEvent): void {
    if (this.#parts >= maxParts) return
    const { isBegun, rest } = (isNew ? undefined : this.#written.get(agent)) ?? { isBegun: false, rest: '' }
    const part = `${rest}${text}`
    const isWorth = onOneLine(part) !== '' && !(isBegun && part.length < minPartChars)
    this.#written.set(agent, isWorth ? { isBegun: true, rest: '' } : { isBegun, rest: part })
    if (!isWorth) return
    this.#parts++
    this.#send(describe({ ...envelope, payload: { index: 0, text: part } }, defaultGuard))
  }

  #send(said: Description): void {
    this.#report(brief(sentence(said), maxThoughtChars))
  }
}
