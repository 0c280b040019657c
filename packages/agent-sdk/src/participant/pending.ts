import { type AnyEnvelope, type ErrorPayload, ProtocolError } from '@meup/protocol'
import { ConnectionError, errorDetails } from './errors.js'

interface Sent {
  readonly text: string
  resolve(echo: AnyEnvelope): void
  reject(error: Error): void
}

/** What may wait for its acknowledgement before more is refused. */
const most = 10_000

/** Envelopes that were sent and not yet acknowledged, in the order they were sent [MEUP-1.11]. */
export class Pending {
  readonly #sent = new Map<string, Sent>()

  add(id: string, text: string): Promise<AnyEnvelope> {
    if (this.#sent.size >= most) {
      const message = `${most} envelopes wait for their acknowledgement; await what send() returns`
      return Promise.reject(new ConnectionError('queue_full', message))
    }
    return new Promise((resolve, reject) => this.#sent.set(id, { text, resolve, reject }))
  }

  acknowledge(echo: AnyEnvelope): void {
    const sent = this.#sent.get(echo.id)
    this.#sent.delete(echo.id)
    sent?.resolve(echo)
  }

  /** Whether the error was about one of these. */
  refuse(id: string, payload: ErrorPayload): boolean {
    const sent = this.#sent.get(id)
    this.#sent.delete(id)
    sent?.reject(new ProtocolError(payload.code, payload.message, errorDetails(payload)))
    return sent !== undefined
  }

  /** For a new connection: an id the gateway knows is answered with the original, so nothing is done twice. */
  texts(): string[] {
    return [...this.#sent.values()].map(({ text }) => text)
  }

  fail(error: Error): void {
    for (const { reject } of this.#sent.values()) reject(error)
    this.#sent.clear()
  }
}
