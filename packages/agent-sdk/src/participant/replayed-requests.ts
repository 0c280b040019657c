import { type AnyEnvelope, correlations, type EnvelopeOf, Kind, type WelcomePayload } from '@meup/protocol'

type Request = EnvelopeOf<typeof Kind.mcpRequest>

/** Requests past this many are forgotten, oldest first: their answers would be for nobody. */
const maxWaiting = 10_000

/** Requests of a replay wait for its end: their answer, or a cancellation, may still come [MEUP-13.6]. */
export class ReplayedRequests {
  readonly #seat: { readonly id: string }
  readonly #waiting = new Map<string, Request>()
  /** Last seq of the replay; 0 = there is none. */
  #to = 0

  constructor(seat: { readonly id: string }) {
    this.#seat = seat
  }

  /** Gives the requests that are to be carried out now. */
  onWelcome({ resume: { status, from, to } }: WelcomePayload): readonly Request[] {
    if (status === 'lost') this.#waiting.clear()
    this.#to = status === 'live' || to < from ? 0 : to
    return this.#to === 0 ? this.#release() : []
  }

  /** Gives the requests that are to be carried out now. */
  onEnvelope(envelope: AnyEnvelope): readonly Request[] {
    const { kind, seq = 0, from } = envelope
    if (this.#to === 0) return kind === Kind.mcpRequest ? [envelope] : []
    if (kind === Kind.mcpRequest) this.#hold(envelope)
    else if (kind === Kind.mcpResponse && from === this.#seat.id) {
      for (const id of correlations(envelope)) this.#waiting.delete(id)
    }
    if (seq < this.#to) return []
    this.#to = 0
    return this.#release()
  }

  #hold(request: Request): void {
    const { id, from, to, payload } = request
    if (to?.includes(this.#seat.id) === false) return
    if (payload.method === 'notifications/cancelled') {
      const cancelled = correlations(request).filter((each) => this.#waiting.get(each)?.from === from)
      for (const each of cancelled) this.#waiting.delete(each)
      if (cancelled.length > 0) return
    }
    this.#waiting.set(id, request)
    if (this.#waiting.size > maxWaiting) this.#waiting.delete(this.#waiting.keys().next().value ?? '')
  }

  #release(): readonly Request[] {
    const released = [...this.#waiting.values()]
    this.#waiting.clear()
    return released
  }
}
