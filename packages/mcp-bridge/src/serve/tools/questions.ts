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

/** A question, until it is answered or cancelled. */
export interface SentQuestion {
  readonly id: string
  readonly isTask: boolean
  readonly answer: Promise<Answer>
  /** Receives thoughts about the question, and parts of its answer; `undefined` = no client listens. */
  listener: ((report: string) => void) | undefined
  /** Proposals that were open earlier, or that the client was already asked about. */
  readonly seen: Set<string>
  /** Cancels the question and notifies its askees. */
  cancel(reason: string): void
}

interface Asking {
  /** Id of the message; default: a new one. */
  readonly id?: string
  /** The question stays open without its client, because it is a task. */
  readonly isTask?: boolean
  readonly to?: readonly string[]
  readonly timeoutMs: number
  readonly seen: Iterable<string>
}

/** Limit of questions; the oldest are dropped, because clients may never resume them. */
const maxQuestions = 1000
const maxThoughtChars = 2000
/** Minimum characters of a reported part of an answer, except the first, and maximum number of parts. */
const [minPartChars, maxParts] = [100, 100]

/** The questions of all MCP clients. A question can outlive the MCP request that asked it. */
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

  /** Sends the question. The answer rejects like that of `SpaceClient.ask`. */
  ask(message: string, { id = randomUUID(), isTask = false, to, timeoutMs, seen }: Asking): SentQuestion {
    const abort = new AbortController()
    const options = { id, timeoutMs, signal: abort.signal, ...(to && { to }) }
    const report = (text: string): void => question.listener?.(text)
    const answer = this.#ask(message, options, report).finally(() => this.#open.delete(question))
    answer.catch(() => {}) // The client may be gone.
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

  /** A separate method, so that the observer is released with the answer. */
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

  /** Cancels all questions except tasks. Resolves once the cancellations are logged. */
  async close(reason: string): Promise<void> {
    for (const question of this.#open) if (!question.isTask) question.cancel(reason)
    await Promise.allSettled(this.#cancellations)
  }

  /** Sends the cancellation, if permitted. */
  #sendCancel(id: string, to: readonly string[] | undefined, reason: string): void {
    const draft = { kind: Kind.chatCancel, correlationId: id, payload: { reason }, ...(to && { to }) }
    if (!this.#space.can(draft)) return
    const settle = (): void => void this.#cancellations.delete(cancellation)
    const cancellation: Promise<void> = this.#space.send(draft).then(settle, settle)
    this.#cancellations.add(cancellation)
  }
}

/** Reports thoughts about a question, and its answers as they are written. */
class QuestionObserver {
  readonly #report: (report: string) => void
  readonly #turns: TurnStream
  /** Unreported text of each answer, and whether its message has begun, by author. */
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

  /** Reports the beginning of an answer, then further text in larger parts. */
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
