import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Logger } from '../ports/logger.js'
import { type Denial, deny } from './connection-gate.js'

/** Failures that one address has, in so many seconds from its first one. */
const [allowed, seconds] = [10, 60]
/** So many addresses have failures of their own; all others together count as one more. */
const mostAddresses = 10_000
const others = 'others'

/** Who has come without a valid token, by address. A valid token is never asked about: it is let in from anywhere. */
export class FailedLogins {
  /** Since the start. */
  count = 0
  readonly #logger: Logger
  /** Loaded by the first failure: a start is faster without. */
  #limiter: Promise<RateLimiterMemory> | undefined
  /** When the failures of an address are forgotten; the oldest first. */
  readonly #forgotten = new Map<string, number>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  /** Counts one more. Gives what to answer: the refusal itself, or 429 once the address has had too many. */
  async add(address: string, refusal: Denial): Promise<Denial> {
    this.count++
    const key = this.#keyOf(address, Date.now())
    this.#limiter ??= createLimiter()
    const { consumedPoints, msBeforeNext: retryAfterMs } = await (await this.#limiter).penalty(key)
    if (consumedPoints <= allowed) return refusal
    if (consumedPoints === allowed + 1) {
      this.#logger.warn({ remote: key, retryAfterMs }, 'an address fails to authenticate again and again')
    }
    const wait = `this address has failed ${allowed} times already; try again in ${Math.ceil(retryAfterMs / 1000)} s`
    return { ...deny('rate_limited', 429, `${refusal.message}; ${wait}`), retryAfterMs }
  }

  #keyOf(address: string, now: number): string {
    for (const [known, until] of this.#forgotten) {
      if (until > now) break
      this.#forgotten.delete(known)
    }
    if (this.#forgotten.has(address)) return address
    if (this.#forgotten.size >= mostAddresses) return others
    this.#forgotten.set(address, now + seconds * 1000)
    return address
  }
}

async function createLimiter(): Promise<RateLimiterMemory> {
  const { default: limiters } = await import('rate-limiter-flexible')
  return new limiters.RateLimiterMemory({ points: allowed, duration: seconds })
}
