import type { Rate } from '@meup/protocol'

/** Tokens that refill at a steady rate up to a burst [MEUP-7.1]. The rate may be another one each time. */
export class TokenBucket {
  #tokens: number
  #at: number

  constructor(rate: Rate, now: number) {
    this.#tokens = rate.burst
    this.#at = now
  }

  /** Takes `cost` tokens and returns 0, or takes nothing and returns the milliseconds until they are there. */
  take(cost: number, rate: Rate, now: number): number {
    this.#refill(rate, now)
    if (this.#tokens >= cost) {
      this.#tokens -= cost
      return 0
    }
    return Math.max(1, Math.ceil(((cost - this.#tokens) / rate.perSecond) * 1000))
  }

  /** Takes `cost` tokens, whether they are there or not. */
  charge(cost: number, rate: Rate, now: number): void {
    this.#refill(rate, now)
    this.#tokens -= cost
  }

  /** It owes at least what it takes so many milliseconds to pay. */
  owe(ms: number, rate: Rate, now: number): void {
    this.#refill(rate, now)
    this.#tokens = Math.min(this.#tokens, (-ms / 1000) * rate.perSecond)
  }

  /** The milliseconds until it has `least` tokens; by default, until it owes nothing. */
  wait(rate: Rate, now: number, least = 0): number {
    this.#refill(rate, now)
    return this.#tokens >= least ? 0 : Math.ceil(((least - this.#tokens) / rate.perSecond) * 1000)
  }

  isFull(rate: Rate, now: number): boolean {
    this.#refill(rate, now)
    return this.#tokens >= rate.burst
  }

  /** A clock that went back refills nothing and takes nothing away. */
  #refill({ perSecond, burst }: Rate, now: number): void {
    const elapsed = Math.max(0, now - this.#at)
    this.#tokens = Math.min(burst, this.#tokens + (elapsed / 1000) * perSecond)
    this.#at = now
  }
}
