import type { Rate } from '@meup/protocol'

/** Tokens that refill at a steady rate up to a burst [MEUP-7.1]. */
export class TokenBucket {
  #tokens: number
  #at: number
  readonly #rate: Rate

  constructor(rate: Rate, now: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#at = now
  }

  /** Takes `cost` tokens and returns 0, or takes nothing and returns the milliseconds until they are there. */
  take(cost: number, now: number): number {
    this.#refill(now)
    if (this.#tokens >= cost) {
      this.#tokens -= cost
      return 0
    }
    return Math.max(1, Math.ceil(((cost - this.#tokens) / this.#rate.perSecond) * 1000))
  }

  isFull(now: number): boolean {
    this.#refill(now)
    return this.#tokens >= this.#rate.burst
  }

  /** A clock that went back refills nothing and takes nothing away. */
  #refill(now: number): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + (elapsed / 1000) * this.#rate.perSecond)
    this.#at = now
  }
}
