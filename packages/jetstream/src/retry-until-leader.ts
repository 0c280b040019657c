import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@meup/gateway'
import { asNatsError, getApiCode } from './nats-error.js'

/** Servers may take seconds to elect a leader. */
const leaderTimeoutMs = 30_000
const retryMs = 250
/** API code of a stream without a leader. */
const leaderless = 10008

/**
 * Repeats a request until a leader answers, logging the first failure. Rejects at once if it is refused, and with `unavailable`
 * after `leaderTimeoutMs`.
 */
export async function retryUntilLeader<Answer>(
  doing: string,
  logger: Logger,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const end = performance.now() + leaderTimeoutMs
  for (let isLogged = false; ; isLogged = true) {
    try {
      return await ask()
    } catch (error) {
      const err = asNatsError(error, doing)
      if (err.code !== 'unavailable' || isRefusal(error) || performance.now() >= end) throw err
      if (!isLogged) logger.warn({ err, doing }, 'the NATS servers do not answer yet; they are asked again')
      await delay(retryMs)
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  [error, Object(error).cause].map(getApiCode).some((code) => code !== 0 && code !== leaderless)
