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
export interface Question {
  readonly id: string
  readonly isTask: boolean
  readonly answer: Promise<Answer>
  /** Receives thoughts about the question, and parts of its answer; `undefined` = no client listens. */
  listener: ((report: string) => void) | undefined
  /** Proposals that were open before, or that the client was asked about already. */
  readonly seen: Set<string>
  /** Cancels the question and notifies those who work on it. */
  cancel(reason: string): void
}

export interface Asking {
  /** Id of the message; default: a new one. */
  readonly id?: string
  /** It stays asked when its client has gone, for which it is a task. */
  readonly isTask?: boolean
  readonly to?: readonly string[]
  readonly timeoutMs: number
  readonly seen: Iterable<string>
}

/** Beyond this the oldest questions are dropped: clients need not resume them. */
const maxQuestions = 1000
const maxThoughtChars = 2000
/** Characters of an answer that are reported at once, but for its beginning; and reports of what is written, all told. */
const [minPartChars, maxParts] = [100, 100]

/** The questions of all MCP clients. A question can outlive the MCP request that asked it. */
export class Questions {
  readonly #space: SpaceClient
  readonly #known = new Bounded<Question>(maxQuestions)
  readonly #open = new Set<Question>()
  readonly #cancellations = new Set<Promise<unknown>>()

  constructor(space: SpaceClient) {
    this.#space = space
  }

  get(id: string): Question | undefined {
    return this.#known.get(id)
  }

  /** Sends the question. The answer rejects like that of `SpaceClient.ask`. */
  ask(message: string, { id = randomUUID(), isTask = false, to, timeoutMs, seen }: Asking): Question {
    const abort = new AbortController()
    const options = { id, timeoutMs, signal: abort.signal, ...(to && { to }) }
    const report = (text: string): void => question.listener?.(text)
    const answer = this.#ask(message, options, report).finally(() => this.#open.delete(question))
    answer.catch(() => {}) // The asker may have gone.
    const cancel = (reason: string): void => {
      if (!this.#open.delete(question)) return
      this.#sendCancel(id, to, reason)
      abort.abort(reason)
    }
    const question: Question = { id, isTask, answer, listener: undefined, seen: new Set(seen), cancel }
    this.#known.set(id, question)
    this.#open.add(question)
    return question
  }

  /** Apart, so that what is observed of a question is forgotten with its answer. */
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

  /** Cancels all questions but those of tasks. Resolves when the space has the cancellations. */
  async close(reason: string): Promise<void> {
    for (const question of this.#open) if (!question.isTask) question.cancel(reason)
    await Promise.allSettled(this.#cancellations)
  }

  /** Sends the cancellation, if this participant may. */
  #sendCancel(id: string, to: readonly string[] | undefined, reason: string): void {
    const draft = { kind: Kind.chatCancel, correlationId: id, payload: { reason }, ...(to && { to }) }
    if (!this.#space.can(draft)) return
    const settle = (): void => void this.#cancellations.delete(cancellation)
    const cancellation: Promise<void> = this.#space.send(draft).then(settle, settle)
    this.#cancellations.add(cancellation)
  }
}

/** Reports what is thought about a question, and its answers as they are written. */
class QuestionObserver {
  readonly #report: (report: string) => void
  readonly #turns: TurnStream
  /** What of an answer is not reported, and whether its message was begun, by who writes it. */
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

  /** Reports the beginning of an answer, then what was added to it, once that is worth it. */
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
