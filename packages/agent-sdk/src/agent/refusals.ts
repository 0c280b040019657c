import { type EnvelopeOf, type Kind, maxCorrelations } from '@meup/protocol'
import { afterPause } from '../participant/active.js'
import type { Seat } from '../participant/seat.js'

type Message = EnvelopeOf<typeof Kind.chat>

/** Messages that wait for their refusal; of more than that, nobody is told. */
const maxWaiting = 1000
/** Milliseconds between two refusals to the same asker, so that being asked a lot does not use up the rate of answers. */
const gapMs = 1000

/** Tells askers, several messages at once, that what they asked is not taken up. */
export class Refusals {
  readonly #seat: Seat
  readonly #onError: (error: unknown) => void
  readonly #byAsker = new Map<string, string[]>()
  #size = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(seat: Seat, onError: (error: unknown) => void) {
    this.#seat = seat
    this.#onError = onError
  }

  add({ id, from }: Message): void {
    if (this.#size >= maxWaiting) return
    this.#size++
    this.#byAsker.set(from, [...(this.#byAsker.get(from) ?? []), id])
    this.#timer ??= setTimeout(() => this.#flush(), 0)
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #flush(): void {
    for (const [asker, ids] of this.#byAsker) {
      const refused = ids.splice(0, maxCorrelations)
      this.#size -= refused.length
      if (ids.length === 0) this.#byAsker.delete(asker)
      this.#refuse(asker, refused)
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#size > 0) this.#flush()
    }, gapMs)
  }

  #refuse(asker: string, correlationId: readonly string[]): void {
    const message = 'I have too many questions open to take this one. Ask again later.'
    afterPause(this.#seat, () => this.#seat.chat(message, { to: [asker], correlationId })).catch(
      this.#onError,
    )
  }
}
