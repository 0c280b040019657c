import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../ports/logger.js'
import { apiCodeOf, asNatsError } from './failure.js'

/** As long as servers that were reached may take to answer: to choose among themselves who leads takes them seconds. */
const patienceMs = 30_000
const againMs = 250
/** What JetStream says while nobody leads. */
const leaderless = 10008

/**
 * Asks servers that were reached until they answer; the operator is told once that they do not yet. Rejects with what they refuse
 * at once, and with `unavailable` where they have not answered for thirty seconds.
 */
export async function retryUntilLeader<Answer>(
  doing: string,
  logger: Logger,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const end = performance.now() + patienceMs
  for (let isTold = false; ; isTold = true) {
    try {
      return await ask()
    } catch (error) {
      const err = asNatsError(error, doing)
      if (err.code !== 'unavailable' || isRefusal(error) || performance.now() >= end) throw err
      if (!isTold) logger.warn({ err, doing }, 'the NATS servers do not answer yet; they are asked again')
      await delay(againMs)
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  [error, Object(error).cause].map(apiCodeOf).some((code) => code !== 0 && code !== leaderless)
