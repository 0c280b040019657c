import type { EnvelopeOf, Kind, McpRequestPayload } from '@meup/protocol'

type Request = EnvelopeOf<typeof Kind.mcpRequest>
type Tell = (notification: McpRequestPayload) => void

/** Milliseconds in which a server may still tell of a call that has ended, or was cancelled. */
const quietMs = 60_000

/**
 * Finds the call that a notification is about where the server does not say so, as with log messages over stdio. Others
 * must not read about a private call: it is about the one call that is running, if nobody else's has run lately.
 */
export class Callers {
  readonly #running = new Map<Request, Tell>()
  /** When the last call of each participant ended. */
  readonly #endedAt = new Map<string, number>()

  /** Gives back what ends it. */
  begin(request: Request, tell: Tell): () => void {
    this.#running.set(request, tell)
    return () => {
      this.#running.delete(request)
      this.#endedAt.delete(request.from)
      this.#endedAt.set(request.from, Date.now())
    }
  }

  /** Tells the only caller there can be; `false` where nobody is to be told. */
  tellOnly(notification: McpRequestPayload): boolean {
    const [only, ...more] = this.#running
    if (only === undefined || more.length > 0) return false
    const [{ from }, tell] = only
    for (const [participant, endedAt] of this.#endedAt) {
      if (Date.now() - endedAt >= quietMs) this.#endedAt.delete(participant)
      else if (participant !== from) return false
    }
    tell(notification)
    return true
  }
}
