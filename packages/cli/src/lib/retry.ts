import { setTimeout as pause } from 'node:timers/promises'
import { ProtocolError } from '@meup/protocol'

/** Delay before the first retry; doubled for each further retry. */
const firstPauseMs = 1000
const maxAttempts = 8

/** Retries a request while the gateway is not ready or rate-limits it. */
export async function retryPutOff<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1, pauseMs = firstPauseMs; ; tries++, pauseMs *= 2) {
    try {
      return await send()
    } catch (error) {
      if (tries === maxAttempts || !isPutOff(error)) throw error
      await pause(pauseMs)
    }
  }
}

export const isPutOff = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.code === 'unavailable' || error.code === 'rate_limited')
