import { randomUUID } from 'node:crypto'
import type { Answer, SpaceClient } from '@meup/agent-sdk'
import { Bounded, brief, defaultGuard, describe, LiveAnswers, onOneLine, sentence } from '@meup/folds'
import { type AnyEnvelope, contextRoot, correlations, Kind, namespaceOf } from '@meup/protocol'

export interface TimedAnswer extends Answer {
  /** When it was sent, RFC 3339, by the gateway's clock. */
  readonly ts: string
}

/** A question, until it is answered or cancelled. */
export interface Question {
  readonly id: string
  readonly answer: Promise<TimedAnswer>
  /** Receives thoughts about the question, and parts of its answer; `undefined` = no client listens. */
  listener: ((report: string) => void) | undefined
  /** Proposals that were open before, or that the client was asked about already. */
  readonly seen: Set<string>
  /** Cancels the question and notifies those who work on it. */
  cancel(reason: string): void
}

export interface Asking {
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
  ask(message: string, { to, timeoutMs, seen }: Asking): Question {
    const id = randomUUID()
    const abort = new AbortController()
    const observer = new QuestionObserver(id, (report) => question.listener?.(report))
    const onEnvelope = (envelope: AnyEnvelope): void => observer.onEnvelope(envelope)
    this.#space.on('envelope', onEnvelope)
    const asked = this.#space.ask(message, { id, timeoutMs, signal: abort.signal, ...(to && { to }) })
    const answer = asked
      .then((given) => ({ ...given, ts: observer.getAnswerTime(given.id) }))
      .finally(() => {
        this.#space.off('envelope', onEnvelope)
        this.#open.delete(question)
      })
    answer.catch(() => {}) // The asker may have gone.
    const cancel = (reason: string): void => {
      if (!this.#open.delete(question)) return
      this.#sendCancel(id, to, reason)
      abort.abort(reason)
    }
    const question: Question = { id, answer, listener: undefined, seen: new Set(seen), cancel }
    this.#known.set(id, question)
    this.#open.add(question)
    return question
  }

  /** Cancels all questions. Resolves when the space has the cancellations. */
  async close(reason: string): Promise<void> {
    for (const question of this.#open) question.cancel(reason)
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

/** Observes the thoughts in runs that a question triggered, its answers as they are written, and their times. */
class QuestionObserver {
  readonly #question: string
  readonly #report: (report: string) => void
  /** By who thinks. */
  readonly #runs = new Map<string, string>()
  readonly #answers = new Map<string, string>()
  readonly #drafts = new LiveAnswers()
  /** How much of an answer was reported, by who writes it. */
  readonly #written = new Map<string, { readonly beginning: number; readonly chars: number }>()
  #parts = 0

  constructor(question: string, report: (report: string) => void) {
    this.#question = question
    this.#report = report
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const { id, ts, from, kind, context } = envelope
    const isAbout = correlations(envelope).includes(this.#question)
    if (kind === Kind.chat && isAbout) this.#answers.set(id, ts)
    if (kind === Kind.chatDelta && isAbout) this.#onDelta(envelope)
    if (namespaceOf(kind) !== namespaceOf(Kind.reasoningStart)) return
    const run = contextRoot(context ?? id)
    if (kind === Kind.reasoningStart && isAbout) this.#runs.set(run, from)
    const thought = describe({ ...envelope }, defaultGuard, { owner: this.#runs.get(run) })
    if (onOneLine(thought.detail) !== '' && this.#runs.has(run))
      this.#report(brief(sentence(thought), maxThoughtChars))
  }

  /** Reports the beginning of an answer, then what was added to it, once that is worth it. */
  #onDelta(delta: AnyEnvelope): void {
    const { from } = delta
    if (this.#parts >= maxParts || !this.#drafts.apply({ ...delta })) return
    const draft = this.#drafts.list().find((each) => each.from === from)
    if (draft === undefined) return
    const { beginning, text } = draft
    const written = this.#written.get(from)
    const chars = written?.beginning === beginning ? written.chars : 0
    const part = text.slice(chars)
    if (onOneLine(part).trim() === '' || (chars > 0 && part.length < minPartChars)) return
    this.#written.set(from, { beginning, chars: text.length })
    this.#parts++
    const said = describe({ ...delta, payload: { index: 0, text: part } }, defaultGuard)
    this.#report(brief(sentence(said), maxThoughtChars))
  }

  getAnswerTime(answer: string): string {
    return this.#answers.get(answer) ?? ''
  }
}
