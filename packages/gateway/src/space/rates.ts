import { namespaceOf, type Rate, type RateClass } from '@meup/protocol'
import type { SpaceConfig } from './config.js'
import { TokenBucket } from './token-bucket.js'

const classes: Readonly<Record<string, RateClass>> = {
  reasoning: 'reasoning',
  chat: 'chat',
  mcp: 'mcp',
  capability: 'control',
  space: 'control',
  participant: 'control',
  observe: 'control',
}

export const rateClassOf = (kind: string): RateClass => classes[namespaceOf(kind)] ?? 'other'

/** Past this many payers, those that owe nothing are forgotten. */
const remembered = 4096

/** The buckets of a space: per payer (a participant, or a guest's address) and class [MEUP-7.1]. */
export class Rates {
  readonly #config: SpaceConfig
  readonly #buckets = new Map<string, Partial<Record<RateClass, TokenBucket>>>()

  constructor(config: SpaceConfig) {
    this.#config = config
  }

  /** 0 when it was taken, else the milliseconds to wait. */
  take(payer: string, rateClass: RateClass, cost: number, now: number): number {
    let buckets = this.#buckets.get(payer)
    if (buckets === undefined) {
      if (this.#buckets.size >= remembered) this.#forget(now)
      buckets = {}
      this.#buckets.set(payer, buckets)
    }
    buckets[rateClass] ??= new TokenBucket(this.#rateOf(payer, rateClass), now)
    return buckets[rateClass].take(cost, now)
  }

  #rateOf(payer: string, rateClass: RateClass): Rate {
    return this.#config.participants[payer]?.rates?.[rateClass] ?? this.#config.limits.rates[rateClass]
  }

  #forget(now: number): void {
    for (const [payer, buckets] of this.#buckets) {
      if (Object.values(buckets).every((bucket) => bucket.isFull(now))) this.#buckets.delete(payer)
    }
  }
}
