import { namespaceOf, type Rate, type RateClass } from '@meup/protocol'
import type { SpaceConfig } from './config.js'
import { TokenBucket } from './token-bucket.js'

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

export const rateClassOf = (kind: string): RateClass => classes.get(namespaceOf(kind)) ?? 'other'

/** Past this many payers, those that owe nothing are forgotten. */
const remembered = 4096

/** Where the rates stand; they may change while it runs. */
type Configured = { readonly config: Pick<SpaceConfig, 'participants' | 'limits'> }

/** The buckets of a space: per payer (a participant, or a guest's address) and class [MEUP-7.1]. */
export class Rates {
  readonly #space: Configured
  readonly #buckets = new Map<string, Partial<Record<RateClass, TokenBucket>>>()

  constructor(space: Configured) {
    this.#space = space
  }

  /** 0 when it was taken, else the milliseconds to wait. */
  take(payer: string, rateClass: RateClass, cost: number, now: number): number {
    let buckets = this.#buckets.get(payer)
    if (buckets === undefined) {
      if (this.#buckets.size >= remembered) this.#forget(now)
      buckets = {}
      this.#buckets.set(payer, buckets)
    }
    const rate = this.rateOf(payer, rateClass)
    buckets[rateClass] ??= new TokenBucket(rate, now)
    return buckets[rateClass].take(cost, rate, now)
  }

  rateOf(payer: string, rateClass: RateClass): Rate {
    const { participants, limits } = this.#space.config
    return participants[payer]?.rates?.[rateClass] ?? limits.rates[rateClass]
  }

  #forget(now: number): void {
    for (const [payer, buckets] of this.#buckets) {
      const isQuits = Object.entries(buckets).every(([rateClass, bucket]) =>
        bucket.isFull(this.rateOf(payer, rateClass as RateClass), now),
      )
      if (isQuits) this.#buckets.delete(payer)
    }
  }
}
