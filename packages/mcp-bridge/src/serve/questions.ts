import { randomUUID } from 'node:crypto'
import type { Answer, SpaceClient } from '@meup/agent-sdk'
import { Bounded, onOneLine, payloadText } from '@meup/folds'
import { type AnyEnvelope, contextRoot, correlations, Kind, namespaceOf } from '@meup/protocol'

export interface TimedAnswer extends Answer {
  /** When it was given, RFC 3339, by the gateway's clock. */
  readonly ts: string
}

/** Something that was asked, until it is answered or taken back. */
export interface Question {
  readonly id: string
  readonly answer: Promise<TimedAnswer>
  /** Who listens to what is thought about it, one thought at a time; `undefined` = nobody does any more. */
  listener: ((thought: string) => void) | undefined
  /** Proposals that are none of its business, or were put to the asker already. */
  readonly seen: Set<string>
  /** The asker does not want to know any more; whoever works on it is told. */
  cancel(reason: string): void
}

export interface Asking {
  readonly to?: readonly string[]
  readonly timeoutMs: number
  readonly seen: Iterable<string>
}

/** Questions past this many are forgotten, oldest first: an asker that was told to come back need not do so. */
const maxQuestions = 1000
const maxThoughtChars = 2000

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

  /** Says it, and begins to wait. The answer rejects as that of `Space.ask` does. */
  ask(message: string, { to, timeoutMs, seen }: Asking): Question {
    const id = randomUUID()
    const abort = new AbortController()
    const observer = new QuestionObserver(id, (thought) => question.listener?.(thought))
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

  /** Takes everything back. Resolves when the space knows. */
  async close(reason: string): Promise<void> {
    for (const question of this.#open) question.cancel(reason)
    await Promise.allSettled(this.#cancellations)
  }

  /** Whoever may not say so leaves the other to work in vain. */
  #sendCancel(id: string, to: readonly string[] | undefined, reason: string): void {
    const draft = { kind: Kind.chatCancel, correlationId: id, payload: { reason }, ...(to && { to }) }
    if (!this.#space.can(draft)) return
    const cancellation = this.#space.send(draft).catch(() => {})
    this.#cancellations.add(cancellation)
    void cancellation.then(() => this.#cancellations.delete(cancellation))
  }
}

/** Hears what is thought in the runs that a question has begun, and when chats were said that answer it. */
class QuestionObserver {
  readonly #question: string
  readonly #think: (thought: string) => void
  readonly #runs = new Set<string>()
  readonly #answers = new Map<string, string>()

  constructor(question: string, think: (thought: string) => void) {
    this.#question = question
    this.#think = think
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const { id, ts, kind, from, context, payload } = envelope
    const isAbout = correlations(envelope).includes(this.#question)
    if (kind === Kind.chat && isAbout) this.#answers.set(id, ts)
    if (namespaceOf(kind) !== namespaceOf(Kind.reasoningStart)) return
    const run = contextRoot(context ?? id)
    if (kind === Kind.reasoningStart && isAbout) this.#runs.add(run)
    const text = onOneLine(payloadText(payload as Record<string, unknown>)).slice(0, maxThoughtChars)
    if (text !== '' && this.#runs.has(run)) this.#think(`${from}: ${text}`)
  }

  getAnswerTime(answer: string): string {
    return this.#answers.get(answer) ?? ''
  }
}
