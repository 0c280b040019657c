import type { EnvelopeOf, Kind, McpRequestPayload } from '@meup/protocol'

export type RelayedRequest = EnvelopeOf<typeof Kind.mcpRequest>
export type Notify = (notification: McpRequestPayload) => void

export interface RelayedCall {
  readonly request: RelayedRequest
  readonly notify: Notify
  /** Aborted when the call is answered or given up. */
  readonly over: AbortController
}

/** Milliseconds in which a server may still send messages about a finished or cancelled call. */
const quietMs = 60_000

/**
 * Finds the call that a message without a reference is about, such as a log message over stdio. To keep private calls private,
 * attributes it only if no other participant is possible.
 */
export class Callers {
  readonly #running = new Set<RelayedCall>()
  /** When the last call of each participant ended, and the last one that was given up, on which the server may still work. */
  readonly #endedAt = new Map<string, number>()
  readonly #gaveUpAt = new Map<string, number>()

  /** `signal` is aborted when the caller gives up. */
  async run<Value>(
    request: RelayedRequest,
    notify: Notify,
    signal: AbortSignal,
    work: (call: RelayedCall) => Promise<Value>,
  ): Promise<Value> {
    const call = { request, notify, over: new AbortController() }
    this.#running.add(call)
    try {
      return await work(call)
    } finally {
      this.#running.delete(call)
      call.over.abort('the call has ended')
      for (const ended of signal.aborted ? [this.#endedAt, this.#gaveUpAt] : [this.#endedAt]) {
        ended.delete(request.from)
        ended.set(request.from, Date.now())
        forgetEarlier(ended)
      }
    }
  }

  /** Notifies the only possible caller; returns `false` if there is none or several. */
  notifyOnlyCaller(notification: McpRequestPayload): boolean {
    const [only, ...more] = this.#running
    if (only === undefined || more.length > 0 || hasOthers(this.#endedAt, only.request.from)) return false
    only.notify(notification)
    return true
  }

  /** The call of an elicitation: the latest one of the only calling participant. */
  findElicited(): RelayedCall | undefined {
    const calls = [...this.#running]
    const latest = calls.at(-1)
    if (latest === undefined) return undefined
    const { from } = latest.request
    return calls.every(({ request }) => request.from === from) && !hasOthers(this.#gaveUpAt, from)
      ? latest
      : undefined
  }
}

function hasOthers(times: Map<string, number>, participant: string): boolean {
  forgetEarlier(times)
  return [...times.keys()].some((id) => id !== participant)
}

/** Removes expired entries, which come first. */
function forgetEarlier(times: Map<string, number>): void {
  for (const [id, at] of times) {
    if (Date.now() - at < quietMs) return
    times.delete(id)
  }
}
