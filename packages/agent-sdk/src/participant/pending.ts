import { type AnyEnvelope, type ErrorPayload, ProtocolError } from '@meup/protocol'
import { ConnectionError, errorDetails } from './errors.js'
import type { Waiter } from './wait.js'

interface Sent {
  /** What its sender says. */
  readonly said: string
  /** What of it goes out. */
  readonly text: string
  /** More than one where the same was sent again meanwhile. */
  readonly waiters: readonly Waiter<AnyEnvelope>[]
}

/** What may wait for its acknowledgement before more is refused. */
const most = 10_000

/** Envelopes that were sent and not yet acknowledged, in the order they were sent [MEUP-1.11]. */
export class Pending {
  readonly #sent = new Map<string, Sent>()

  has(id: string): boolean {
    return this.#sent.has(id)
  }

  /** Throws when too much waits, or when the id stands for something else that is on its way. */
  add(id: string, said: string, text = said): Promise<AnyEnvelope> {
    const known = this.#sent.get(id)
    if (known !== undefined && known.said !== said) {
      throw new TypeError(`another envelope with the id ${id} is on its way; use a fresh id`)
    }
    if (known === undefined && this.#sent.size >= most) {
      const message = `${most} envelopes wait for their acknowledgement; await what send() returns`
      throw new ConnectionError('queue_full', message)
    }
    return new Promise((resolve, reject) => {
      const waiters = [...(known?.waiters ?? []), { resolve, reject }]
      this.#sent.set(id, { said, text: known?.text ?? text, waiters })
    })
  }

  acknowledge(echo: AnyEnvelope): void {
    for (const { resolve } of this.#take(echo.id)) resolve(echo)
  }

  /** Whether the error was about one of these. */
  refuse(id: string, payload: ErrorPayload | ProtocolError): boolean {
    const waiters = this.#take(id)
    const { code, message } = payload
    const details = payload instanceof ProtocolError ? payload.details : errorDetails(payload)
    for (const { reject } of waiters) reject(new ProtocolError(code, message, details))
    return waiters.length > 0
  }

  /** For a new connection: an id the gateway knows is answered with the original, so nothing is done twice. */
  texts(): [id: string, text: string][] {
    return [...this.#sent].map(([id, { text }]) => [id, text])
  }

  fail(error: Error): void {
    for (const id of [...this.#sent.keys()]) for (const { reject } of this.#take(id)) reject(error)
  }

  #take(id: string): readonly Waiter<AnyEnvelope>[] {
    const waiters = this.#sent.get(id)?.waiters ?? []
    this.#sent.delete(id)
    return waiters
  }
}
