import { namespaceOf, type Rate, type RateClass } from '@meup/protocol'
import type { SpaceConfig } from './config.js'

/** By the namespace of a kind. Kinds come from the wire: an object would know `constructor`, too. */
const classes: ReadonlyMap<string, RateClass> = new Map([
  ['reasoning', 'reasoning'],
  ['chat', 'chat'],
  ['mcp', 'mcp'],
  ['capability', 'control'],
  ['space', 'control'],
  ['participant', 'control'],
  ['observe', 'control'],
])

/** A socket whose rateLimitKey owes one of these is not read [MEUP-7.1]. */
const owed = ['bytes', 'results', 'work', 'frames'] as const satisfies readonly RateClass[]

export const getRateClass = (kind: string): RateClass => classes.get(namespaceOf(kind)) ?? 'other'

/** Past this many payers, those that owe nothing are forgotten. */
const remembered = 4096

/** Characters of a view for one unit of work. */
const charactersPerUnit = 64

/** Where the rates stand; they may change while it runs. */
type Configured = { readonly config: Pick<SpaceConfig, 'participants' | 'limits'> }

/** A bucket and its rate, as it is in `config`. */
interface Account {
  readonly bucket: TokenBucket
  rate: Rate
  config: Configured['config']
}

/** The buckets of a space: per rateLimitKey (a participant, or a guest's address) and class [MEUP-7.1]. */
export class Rates {
  readonly #space: Configured
  readonly #payers = new Map<string, Map<RateClass, Account>>()

  constructor(space: Configured) {
    this.#space = space
  }

  /** 0 when it was taken, else the milliseconds to wait. */
  take(rateLimitKey: string, rateClass: RateClass, cost: number, now: number): number {
    const { bucket, rate } = this.#accountOf(rateLimitKey, rateClass, now)
    return bucket.take(cost, rate, now)
  }

  /** Takes it whether it is there or not: what has been done cannot be refused any more [MEUP-7.1]. */
  charge(rateLimitKey: string, rateClass: RateClass, cost: number, now: number): void {
    const { bucket, rate } = this.#accountOf(rateLimitKey, rateClass, now)
    bucket.charge(cost, rate, now)
  }

  /** What the rateLimitKey owes elsewhere, in milliseconds until that is paid, it owes here as well. */
  owe(rateLimitKey: string, rateClass: RateClass, ms: number, now: number): void {
    if (ms <= 0) return
    const { bucket, rate } = this.#accountOf(rateLimitKey, rateClass, now)
    bucket.owe(ms, rate, now)
  }

  /** Charges for a view of so many characters, as for what is read of the log [MEUP-7.8]. */
  chargeView(rateLimitKey: string, characters: number, now: number): void {
    this.charge(rateLimitKey, 'work', characters / charactersPerUnit, now)
  }

  /** Milliseconds until the rateLimitKey has this part of its burst in a class; by default, until it owes nothing. */
  wait(rateLimitKey: string, rateClass: RateClass, now: number, part = 0): number {
    const { bucket, rate } = this.#accountOf(rateLimitKey, rateClass, now)
    return bucket.wait(rate, now, part * rate.burst)
  }

  /** Milliseconds until the rateLimitKey owes nothing for which it is not read. */
  waitToRead(rateLimitKey: string, now: number): number {
    const accounts = this.#payers.get(rateLimitKey)
    let wait = 0
    if (accounts === undefined) return wait
    for (const rateClass of owed) {
      if (accounts.has(rateClass)) wait = Math.max(wait, this.wait(rateLimitKey, rateClass, now))
    }
    return wait
  }

  #accountOf(rateLimitKey: string, rateClass: RateClass, now: number): Account {
    const { config } = this.#space
    const account = this.#payers.get(rateLimitKey)?.get(rateClass)
    if (account?.config === config) return account
    const rate = this.rateOf(rateLimitKey, rateClass)
    if (account !== undefined) return Object.assign(account, { rate, config })
    let accounts = this.#payers.get(rateLimitKey)
    if (accounts === undefined) {
      if (this.#payers.size >= remembered) this.#forget(now)
      accounts = new Map()
      this.#payers.set(rateLimitKey, accounts)
    }
    const opened: Account = { bucket: new TokenBucket(rate, now), rate, config }
    accounts.set(rateClass, opened)
    return opened
  }

  rateOf(rateLimitKey: string, rateClass: RateClass): Rate {
    const { participants, limits } = this.#space.config
    return participants[rateLimitKey]?.rates?.[rateClass] ?? limits.rates[rateClass]
  }

  #forget(now: number): void {
    for (const [rateLimitKey, accounts] of this.#payers) {
      const isFull = [...accounts].every(([rateClass, { bucket }]) =>
        bucket.isFull(this.rateOf(rateLimitKey, rateClass), now),
      )
      if (isFull) this.#payers.delete(rateLimitKey)
    }
  }
}

/** Tokens that refill at a steady rate up to a burst [MEUP-7.1]. The rate may be another one each time. */
class TokenBucket {
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
