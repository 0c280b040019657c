import { type AnyEnvelope, correlations, type EnvelopeOf, type Kind } from '@meup/protocol'
import { freshId } from '../fresh-id.js'
import type { Draft, Seat } from './seat.js'
import { type Waiter, type WaitOptions, wait } from './wait.js'

interface Awaited {
  readonly kind: Kind
  /** Who has to answer; absent = anybody. */
  readonly from?: string
  readonly waiter: Waiter<AnyEnvelope>
}

/** What is asked with one kind of envelope and answered with another, by the id of what was sent. */
export class Replies {
  readonly #seat: Pick<Seat, 'send'>
  readonly #waiting = new Map<string, Awaited>()

  constructor(seat: Pick<Seat, 'send'>) {
    this.#seat = seat
  }

  /** Sends the draft; the answer is the first envelope of this kind, from this sender, that correlates to it. */
  async ask<K extends Kind>(
    draft: Draft,
    { kind, from }: { kind: K; from?: string },
    options: WaitOptions,
  ): Promise<EnvelopeOf<K>> {
    const id = draft.id ?? freshId()
    const answer = wait<AnyEnvelope>(
      kind,
      options,
      (waiter) => {
        this.#waiting.set(id, { kind, waiter, ...(from !== undefined && { from }) })
        this.#seat.send({ ...draft, id }).catch((error: Error) => waiter.reject(error))
      },
      () => this.#waiting.delete(id),
    )
    return (await answer) as EnvelopeOf<K>
  }

  /** Whether the envelope was such an answer. */
  take(envelope: AnyEnvelope): boolean {
    if (this.#waiting.size === 0) return false
    const answered = correlations(envelope)
      .flatMap((id) => this.#waiting.get(id) ?? [])
      .filter(({ kind, from = envelope.from }) => kind === envelope.kind && from === envelope.from)
    for (const { waiter } of answered) waiter.resolve(envelope)
    return answered.length > 0
  }

  failAll(error: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(error)
  }
}
