import { ProtocolError } from '@meup/protocol'
import type { BaseClient } from './base-client.js'

/** Milliseconds that one action waits in all for an exhausted rate limit. */
const maxRateLimitWaitMs = 10_000

/** Resolves when the client is not paused, closed, or aborted. */
export async function whenResumed(client: BaseClient, signal?: AbortSignal): Promise<void> {
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

/** Repeats the action after a pause that forbids it. Rejects with the refusal when it is aborted meanwhile. */
export async function retryAfterPause<Value>(
  client: BaseClient,
  act: () => Promise<Value>,
  signal?: AbortSignal,
): Promise<Value> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== 'participant_paused') throw error
      await whenResumed(client, signal)
      if (client.ended || signal?.aborted) throw error
    }
  }
}

/** Repeats the action while it is refused as `rate_limited`, up to a total wait of ten seconds. */
export async function retryRateLimited<Value>(act: () => Promise<Value>): Promise<Value> {
  for (let left = maxRateLimitWaitMs; ; ) {
    try {
      return await act()
    } catch (error) {
      const wait =
        error instanceof ProtocolError && error.code === 'rate_limited' && error.details.retryAfterMs
      if (typeof wait !== 'number' || wait > left) throw error
      left -= wait
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}
