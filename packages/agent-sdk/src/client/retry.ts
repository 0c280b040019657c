import { namespaceOf, ProtocolError } from '@meup/protocol'
import { abortedError } from './errors.js'

/** Milliseconds that one envelope waits in all for an exhausted rate limit. */
const maxRateLimitWaitMs = 10_000

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
        signal?.removeEventListener('abort', changed)
        resolve()
      }
      client.on('resumed', changed)
      client.on('closed', changed)
      signal?.addEventListener('abort', changed)
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
 * Sends no faster than the space allows [MEUP-13.8]: what is refused as `rate_limited` is sent again when its
 * `retryAfterMs` is over. Until then what follows of the same kinds waits in line, so that a burst is refused once and then
 * sent at the rate of the space. Who is at the head of the line waits ten seconds at most.
 */
export class Pace {
  /** By namespace: the end of the line; absent = nobody waits. */
  readonly #lines = new Map<string, Promise<unknown>>()

  async send<Value>(kind: string, act: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
    const line = namespaceOf(kind)
    const ahead = this.#lines.get(line)
    if (ahead === undefined) {
      try {
        return await act()
      } catch (error) {
        if (getWait(error) === undefined) throw error
      }
    }
    const sent = (this.#lines.get(line) ?? Promise.resolve()).then(() => retryRateLimited(act, signal))
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

/** Repeats the action while it is refused as `rate_limited`. */
async function retryRateLimited<Value>(act: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
  for (let left = maxRateLimitWaitMs; ; ) {
    if (signal?.aborted) throw abortedError(signal)
    try {
      return await act()
    } catch (error) {
      const wait = getWait(error)
      if (wait === undefined || wait > left) throw error
      left -= wait
      await delay(wait, signal)
    }
  }
}

function getWait(error: unknown): number | undefined {
  if (!(error instanceof ProtocolError) || error.code !== 'rate_limited') return undefined
  const { retryAfterMs } = error.details
  return typeof retryAfterMs === 'number' ? retryAfterMs : undefined
}

/** Resolves after `ms`, or when it is aborted. */
function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}
