import { setTimeout as pause } from 'node:timers/promises'
import { getRetryAfterMs } from '@meup/agent-sdk/internal'
import { ProtocolError } from '@meup/protocol'

/** Delay before the first retry if the gateway names none; doubled for each further retry. */
const firstPauseMs = 1000

/**
 * Retries a request while the gateway is not ready or rate-limits it, after the delay that the gateway names. Rejects with the
 * last refusal if a delay would exceed `maxWaitMs`, the milliseconds to wait in total.
 */
export async function retryPutOff<Answer>(send: () => Promise<Answer>, maxWaitMs = 127_000): Promise<Answer> {
  for (let leftMs = maxWaitMs, pauseMs = firstPauseMs; ; pauseMs *= 2) {
    try {
      return await send()
    } catch (error) {
      // Up to half as long again, so that programs that are put off together do not come back together.
      const waitMs = (getRetryAfterMs(error) ?? pauseMs) * (1 + Math.random() / 2)
      if (!isPutOff(error) || waitMs > leftMs) throw error
      leftMs -= waitMs
      await pause(waitMs)
    }
  }
}

export const isPutOff = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.code === 'unavailable' || error.code === 'rate_limited')
