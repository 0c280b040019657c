import { setTimeout as pause } from 'node:timers/promises'
import { getRetryAfterMs } from '@meup/agent-sdk/internal'
import { ProtocolError } from '@meup/protocol'

interface RetryOptions {
  /** Milliseconds to wait in total. */
  readonly maxWaitMs: number
  /** Delay before the first retry if the gateway names none; doubled for each further retry. `Infinity` = no retry then. */
  readonly firstPauseMs: number
}

/** For work that takes minutes, such as an export. */
const patientRetry: RetryOptions = { maxWaitMs: 127_000, firstPauseMs: 1000 }

/** For a command that a person or a script waits for. */
export const promptRetry: RetryOptions = { maxWaitMs: 15_000, firstPauseMs: Number.POSITIVE_INFINITY }

const minPauseMs = 50

/**
 * Retries a request while the gateway is not ready or rate-limits it, after the delay that the gateway names. Rejects with the
 * last refusal if a delay would exceed what is left of `maxWaitMs`.
 */
export async function retryPutOff<Answer>(
  send: () => Promise<Answer>,
  { maxWaitMs, firstPauseMs }: RetryOptions = patientRetry,
): Promise<Answer> {
  for (let leftMs = maxWaitMs, pauseMs = firstPauseMs; ; pauseMs *= 2) {
    try {
      return await send()
    } catch (error) {
      const waitMs = Math.max(getRetryAfterMs(error) ?? pauseMs, minPauseMs)
      if (!isPutOff(error) || waitMs > leftMs) throw error
      leftMs -= waitMs
      // Up to half as long again, so that programs that are put off together do not come back together.
      await pause(waitMs * (1 + Math.random() / 2))
    }
  }
}

export const isPutOff = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.code === 'unavailable' || error.code === 'rate_limited')
