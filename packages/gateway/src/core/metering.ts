import { readRunUsage } from '@meup/folds'
import { Kind, namespaceOf, type Rate, type RateClass } from '@meup/protocol'
import type { DraftEntry } from '../ports/envelope-log.js'
import type { Logger } from '../ports/logger.js'
import type { SpaceConfig } from './config.js'

/** Rate classes by kind or namespace. Kinds are untrusted input, so this is a map: an object would find `constructor`. */
const classes: ReadonlyMap<string, RateClass> = new Map([
  ['reasoning', 'reasoning'],
  ['chat', 'chat'],
  [Kind.chatDelta, 'deltas'],
  [Kind.observeTyping, 'deltas'],
  ['mcp', 'mcp'],
  ['capability', 'control'],
  ['space', 'control'],
  ['participant', 'control'],
  ['observe', 'control'],
])

/** A socket whose rateLimitKey is in debt in one of these classes is not read [MEUP-7.1]. */
const owed = ['bytes', 'results', 'work', 'frames'] as const satisfies readonly RateClass[]

export const getRateClass = (kind: string): RateClass =>
  classes.get(kind) ?? classes.get(namespaceOf(kind)) ?? 'other'

/** Above this number of rateLimitKeys, those whose buckets are all full are forgotten. */
const remembered = 4096

/** Maximum milliseconds by which earlier refusals delay the time at which a refused sender may retry. */
const maxPromisedMs = 60_000

/** Characters of a response computed from the log or the state (a view) that cost one unit of work. */
const charactersPerUnit = 64

/** Holds the configured rates, which may change at run time. */
type Configured = { readonly config: Pick<SpaceConfig, 'participants' | 'limits'> }

/**
 * Tokens that refill at a steady rate up to a burst [MEUP-7.1]. `rate`: the configured rate, cached until another `config`
 * applies.
 */
interface Bucket {
  tokens: number
  at: number
  /** When the last refused sender may retry. */
  promisedAt: number
  rate: Rate
  config: Configured['config']
}

/** The token buckets of a space by rateLimitKey (a participant, or a guest's address) and class [MEUP-7.1]. */
export class Rates {
  readonly #space: Configured
  readonly #payers = new Map<string, Map<RateClass, Bucket>>()

  constructor(space: Configured) {
    this.#space = space
  }

  /** Returns 0 if the tokens were taken, otherwise the milliseconds to wait. Earlier refused senders come first [MEUP-7.2]. */
  take(rateLimitKey: string, rateClass: RateClass, cost: number, now: number): number {
    const bucket = this.#getBucket(rateLimitKey, rateClass, now)
    if (bucket.tokens < cost) {
      const soonest = now + Math.max(1, waitMs(bucket, cost))
      const next = bucket.promisedAt + (cost / bucket.rate.perSecond) * 1000
      bucket.promisedAt = Math.min(Math.max(soonest, next), soonest + maxPromisedMs)
      return Math.ceil(bucket.promisedAt - now)
    }
    bucket.tokens -= cost
    return 0
  }

  /** Charges without refusing, possibly into debt, for work that is already done [MEUP-7.1]. */
  charge(rateLimitKey: string, rateClass: RateClass, cost: number, now: number): void {
    this.#getBucket(rateLimitKey, rateClass, now).tokens -= cost
  }

  /** Adds a debt from another gateway, in milliseconds until it is paid. */
  owe(rateLimitKey: string, rateClass: RateClass, ms: number, now: number): void {
    if (ms <= 0) return
    const bucket = this.#getBucket(rateLimitKey, rateClass, now)
    bucket.tokens = Math.min(bucket.tokens, (-ms / 1000) * bucket.rate.perSecond)
  }

  /** Charges for a view of this many characters, like for a read of the log [MEUP-7.8]. */
  chargeView(rateLimitKey: string, characters: number, now: number): void {
    this.charge(rateLimitKey, 'work', characters / charactersPerUnit, now)
  }

  /** Milliseconds until the bucket is filled to this part of its burst; by default, until it has no debt. */
  wait(rateLimitKey: string, rateClass: RateClass, now: number, part = 0): number {
    const bucket = this.#getBucket(rateLimitKey, rateClass, now)
    return waitMs(bucket, part * bucket.rate.burst)
  }

  /** Tokens in the bucket; below 0 = debt. */
  left(rateLimitKey: string, rateClass: RateClass, now: number): number {
    return this.#getBucket(rateLimitKey, rateClass, now).tokens
  }

  /** Milliseconds until the rateLimitKey has no debt that stops reading its sockets. */
  waitToRead(rateLimitKey: string, now: number): number {
    const buckets = this.#payers.get(rateLimitKey)
    let wait = 0
    if (buckets === undefined) return wait
    for (const rateClass of owed) {
      if (buckets.has(rateClass)) wait = Math.max(wait, this.wait(rateLimitKey, rateClass, now))
    }
    return wait
  }

  getRate(rateLimitKey: string, rateClass: RateClass): Rate {
    const { participants, limits } = this.#space.config
    return participants[rateLimitKey]?.rates?.[rateClass] ?? limits.rates[rateClass]
  }

  /** The refilled bucket. If the clock went back, nothing is refilled or removed. */
  #getBucket(rateLimitKey: string, rateClass: RateClass, now: number): Bucket {
    const { config } = this.#space
    const bucket = this.#payers.get(rateLimitKey)?.get(rateClass) ?? this.#open(rateLimitKey, rateClass, now)
    if (bucket.config !== config) {
      bucket.rate = this.getRate(rateLimitKey, rateClass)
      bucket.config = config
    }
    const { perSecond, burst } = bucket.rate
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond)
    bucket.at = now
    return bucket
  }

  #open(rateLimitKey: string, rateClass: RateClass, now: number): Bucket {
    let buckets = this.#payers.get(rateLimitKey)
    if (buckets === undefined) {
      if (this.#payers.size >= remembered) this.#forget(now)
      buckets = new Map()
      this.#payers.set(rateLimitKey, buckets)
    }
    const rate = this.getRate(rateLimitKey, rateClass)
    const bucket = { tokens: rate.burst, at: now, promisedAt: 0, rate, config: this.#space.config }
    buckets.set(rateClass, bucket)
    return bucket
  }

  #forget(now: number): void {
    for (const [rateLimitKey, buckets] of this.#payers) {
      const isFull = [...buckets.keys()].every((rateClass) => {
        const { tokens, rate } = this.#getBucket(rateLimitKey, rateClass, now)
        return tokens >= rate.burst
      })
      if (isFull) this.#payers.delete(rateLimitKey)
    }
  }
}

/** Milliseconds until the bucket has `least` tokens. */
const waitMs = ({ tokens, rate }: Bucket, least: number): number =>
  tokens >= least ? 0 : Math.ceil(((least - tokens) / rate.perSecond) * 1000)

/** Counts per key, such as an error code. Metrics show the key as a label. */
export class MeterCounts {
  readonly #counts = new Map<string, number>()

  add(key: string, times = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + times)
  }

  entries(): Iterable<readonly [key: string, count: number]> {
    return this.#counts.entries()
  }
}

/** A histogram: `counts[i]` values were at most `bounds[i]` and above the previous bound. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly counts: number[]
  count = 0
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = bounds.map(() => 0)
  }

  add(value: number): void {
    this.count++
    this.sum += value
    const at = this.bounds.findIndex((bound) => value <= bound)
    if (at !== -1) this.counts[at] = (this.counts[at] ?? 0) + 1
  }
}

/** Counters of a space since it was opened. Plain numbers, because every envelope passes here; `metrics.ts` reads them. */
export class SpaceMetrics {
  /** Number of logged envelopes by rate class. */
  readonly accepted = new MeterCounts()
  /** Bytes of the envelopes in the log. */
  appendedBytes = 0
  /** Number of refused envelopes by error code. */
  readonly refused = new MeterCounts()
  /** Seconds that the log took for one batch. */
  readonly commits = new Histogram([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5])
  failedCommits = 0
  /** Language-model tokens that the conclusions of runs report, by `input` and `output`. */
  readonly tokens = new MeterCounts()
  /** Findings of `ReasoningGuard` in envelopes, by its action on the text. */
  readonly findings = new MeterCounts()
  /** Connections closed because their peers read too slowly. */
  slowCloses = 0
  /** How often reading of a connection was paused because the log had fallen behind or its rates were used up. */
  heldReads = 0
  /** Totals that subscriptions have filtered out. */
  readonly suppressed = { envelopes: 0, bytes: 0 }
  /** Thoughts of hidden runs, each counted once. */
  withheldThoughts = 0

  /** Counts the language-model tokens that the payload of a conclusion reports. */
  concluded(payload: { readonly metadata?: unknown }): void {
    const { input = 0, output = 0 } = readRunUsage(payload.metadata).tokens
    if (input > 0) this.tokens.add('input', input)
    if (output > 0) this.tokens.add('output', output)
  }

  committed(batch: readonly DraftEntry[], seconds: number): void {
    this.commits.add(seconds)
    let [last, times] = ['', 0]
    for (const { kind, body } of batch) {
      this.appendedBytes += body.length
      if (kind !== last && times > 0) {
        this.accepted.add(getRateClass(last), times)
        times = 0
      }
      last = kind
      times++
    }
    if (times > 0) this.accepted.add(getRateClass(last), times)
  }
}

/**
 * Parts of the burst of `log`: the operator is warned below the first, and again only after the bucket was above the second.
 */
const [littleLeft, enoughLeft] = [0.2, 0.5]
/** Bytes below which a participant cannot add any envelope. */
const noneLeft = 256
/** Participants whose warning level is remembered. */
const maxLevels = 4096

/** The part of a space that `LogUse` needs. */
interface UsedSpace {
  readonly config: Pick<SpaceConfig, 'name'>
  readonly logger: Logger
  readonly rates: Rates
}

/** Warns the operator about participants that use up their log budget [MEUP-7.2]. */
export class LogUse {
  readonly #space: UsedSpace
  readonly #levels = new Map<string, 'little' | 'nothing'>()

  constructor(space: UsedSpace) {
    this.#space = space
  }

  /** Whether a rateLimitKey has no log budget left at present. */
  isUsedUp(rateLimitKey: string, now: number): boolean {
    return this.#space.rates.left(rateLimitKey, 'log', now) < noneLeft
  }

  /** Warns the operator if little of the log budget is left. Call it after a charge to the class `log`, or a refusal by it. */
  note(rateLimitKey: string, now: number, isRefused: boolean): void {
    const { config, logger, rates } = this.#space
    const { perSecond, burst } = rates.getRate(rateLimitKey, 'log')
    const left = rates.left(rateLimitKey, 'log', now)
    const known = this.#levels.get(rateLimitKey)
    if (left >= enoughLeft * burst && !isRefused) {
      if (known !== undefined) this.#levels.delete(rateLimitKey)
      return
    }
    const level = isRefused ? 'nothing' : left < littleLeft * burst ? 'little' : undefined
    if (level === undefined || known === level || known === 'nothing') return
    if (this.#levels.size >= maxLevels) this.#levels.clear()
    this.#levels.set(rateLimitKey, level)
    const about = {
      space: config.name,
      rateLimitKey,
      bytesLeft: Math.floor(left),
      bytesPerDay: perSecond * 86_400,
    }
    if (isRefused) logger.warn(about, 'a participant has used up its quota of the log; more is refused')
    else logger.warn(about, 'a participant has used 80 % of its quota of the log')
  }
}
