import { namespaceOf, ProtocolError } from '@meup/protocol'
import { abortedError, getRetryAfterMs } from './errors.js'
import { onAbort } from './on-abort.js'

/** Milliseconds that one envelope waits in all for what passes. */
const maxWaitMs = 10_000
/** Milliseconds after which a gateway that could not, and does not say for how long, is asked again. */
const unavailableMs = 500

/** A client that may be paused. */
interface Pausable {
  readonly paused: object | undefined
  readonly ended: object | undefined
  on(event: 'resumed' | 'closed', listener: () => void): unknown
  off(event: 'resumed' | 'closed', listener: () => void): unknown
}

/** Resolves when the client is not paused, closed, or aborted. */
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

/** Repeats the action after a pause that forbids it. Rejects with `aborted` when it is aborted meanwhile. */
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
 * Sends no faster than the space allows [MEUP-13.8]: what is refused as `rate_limited` is sent again when its `retryAfterMs` is over,
 * what the gateway could not do a little later. Until then what follows of the same kinds waits in line, so that a burst is refused
 * once and then sent at the rate of the space. Who is at the head of the line waits ten seconds at most.
 */
export class Pace {
  /** By namespace: the end of the line; absent = nobody waits. */
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

/** Repeats the action while it is refused for the time being; `waitMs`: before it is tried at all. */
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

/** Throws what is final, ends with a pause, names what else to wait for, or takes longer than `maxMs`. */
function getWait(error: unknown, maxMs: number): number {
  const code = error instanceof ProtocolError ? error.code : undefined
  const isGatewaysFault = code === 'unavailable' || code === 'internal'
  if (!isGatewaysFault && code !== 'rate_limited') throw error
  const wait = getRetryAfterMs(error) ?? (isGatewaysFault ? unavailableMs : undefined)
  if (wait === undefined || wait > maxMs) throw error
  return wait
}

/** Resolves after `ms`, or when it is aborted. */
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
