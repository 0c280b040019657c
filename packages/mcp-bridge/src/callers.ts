import type { EnvelopeOf, Kind, McpRequestPayload } from '@meup/protocol'

export type RelayedRequest = EnvelopeOf<typeof Kind.mcpRequest>
export type Notify = (notification: McpRequestPayload) => void

export interface RelayedCall {
  readonly request: RelayedRequest
  readonly notify: Notify
  /** Aborted when the call is answered or cancelled. */
  readonly over: AbortController
}

/** Milliseconds during which a server may still send messages about a finished or cancelled call. */
const quietMs = 60_000

/**
 * Finds the call that a message belongs to if it does not name one, such as a log message over stdio. To keep private calls
 * private, a call is found only if no other participant's call could be meant.
 */
export class Callers {
  readonly #running = new Set<RelayedCall>()
  /** Times by participant: when its last call ended, and when it last cancelled a call, on which the server may still work. */
  readonly #endedAt = new Map<string, number>()
  readonly #gaveUpAt = new Map<string, number>()

  /** Registers a call while `work` runs. `signal`: aborted when the caller cancels the call. */
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

  /** Sends a notification to the only possible caller; returns `false` if there is none or more than one. */
  notifyOnlyCaller(notification: McpRequestPayload): boolean {
    const [only, ...more] = this.#running
    if (only === undefined || more.length > 0 || hasOthers(this.#endedAt, only.request.from)) return false
    only.notify(notification)
    return true
  }

  /** Finds the call of an elicitation: the latest one, if all running calls are from the same participant. */
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

/** Removes expired entries. The map is ordered by time. */
function forgetEarlier(times: Map<string, number>): void {
  for (const [id, at] of times) {
    if (Date.now() - at < quietMs) return
    times.delete(id)
  }
}
