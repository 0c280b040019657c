import { namespaceOf, ProtocolError } from '@meup/protocol'
import { abortedError, getRetryAfterMs } from './errors.js'
import { onAbort } from './on-abort.js'

/** Maximum milliseconds that an envelope waits in total because of transient refusals. */
const maxWaitMs = 10_000
/** Milliseconds until a retry if `unavailable` or `internal` has no `retryAfterMs`. */
const unavailableMs = 500

/** A client that may be paused. */
interface Pausable {
  readonly paused: object | undefined
  readonly ended: object | undefined
  on(event: 'resumed' | 'closed', listener: () => void): unknown
  off(event: 'resumed' | 'closed', listener: () => void): unknown
}

/** Resolves when the client is not paused, or when it is closed or the signal aborted. */
export async function whenResumed(client: Pausable, signal?: AbortSignal): Promise<void> {
  while (client.paused && !client.ended && !signal?.aborted) {
    await new Promise<void>((resolve) => {
      const changed = (): void => {
        client.off('resumed', changed)
        client.off('closed', changed)
        endListening()
        resolve()
      }
      client.on('resumed', changed)
      client.on('closed', changed)
      const endListening = onAbort(signal, changed)
    })
  }
}

/**
 * Runs an action. If it was refused because of a pause, repeats it when the pause has ended. Rejects with `aborted` when the
 * signal is aborted.
 */
export async function retryAfterPause<Value>(
  client: Pausable,
  act: () => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'participant_paused') throw error
      await whenResumed(client, signal)
      if (signal?.aborted) throw abortedError(signal)
      if (client.ended) throw error
    }
  }
}

/**
 * Sends at the rate of the space [MEUP-13.8]: resends an envelope refused as `rate_limited` after its `retryAfterMs`, and after
 * other transient refusals a little later. Envelopes of the same namespace queue behind it, so that of a burst only the first
 * ones are refused. The first in the queue waits ten seconds at most.
 */
export class Pace {
  /** Last promise in the queue of each namespace of kinds, such as `mcp`; absent = the queue is empty. */
  readonly #lines = new Map<string, Promise<unknown>>()

  async send<Value>(kind: string, act: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    const line = namespaceOf(kind)
    let notBefore = 0
    if (!this.#lines.has(line)) {
      try {
        return await act()
      } catch (error) {
        notBefore = performance.now() + getWait(error, maxWaitMs)
      }
    }
    const ahead = this.#lines.get(line) ?? Promise.resolve()
    const sent = ahead.then(() => retryPassing(act, notBefore - performance.now(), signal))
    const settled: Promise<void> = sent.then(
      () => this.#leave(line, settled),
      () => this.#leave(line, settled),
    )
    this.#lines.set(line, settled)
    return sent
  }

  #leave(line: string, settled: Promise<void>): void {
    if (this.#lines.get(line) === settled) this.#lines.delete(line)
  }
}

/** Repeats an action while it is refused with transient errors. `waitMs`: delay before the first attempt. */
async function retryPassing<Value>(
  act: () => Promise<Value>,
  waitMs: number,
  signal?: AbortSignal,
): Promise<Value> {
  let left = maxWaitMs - Math.max(waitMs, 0)
  for (let wait = waitMs; ; left -= wait) {
    if (wait > 0) await delay(wait, signal)
    if (signal?.aborted) throw abortedError(signal)
    try {
      return await act()
    } catch (error) {
      wait = getWait(error, left)
    }
  }
}

/** Milliseconds until the next attempt. Rethrows errors that a retry does not resolve, or only after more than `maxMs`. */
function getWait(error: unknown, maxMs: number): number {
  const code = error instanceof ProtocolError ? error.code : undefined
  const isGatewaysFault = code === 'unavailable' || code === 'internal'
  if (!isGatewaysFault && code !== 'rate_limited') throw error
  const wait = getRetryAfterMs(error) ?? (isGatewaysFault ? unavailableMs : undefined)
  if (wait === undefined || wait > maxMs) throw error
  return wait
}

/** Resolves after `ms`, or when the signal is aborted. */
function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      endListening()
      resolve()
    }
    const timer = setTimeout(end, ms)
    const endListening = onAbort(signal, end)
    if (signal?.aborted) end()
  })
}
