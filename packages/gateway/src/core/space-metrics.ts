import type { Draft } from '../ports/envelope-log.js'
import { getRateClass } from './rates.js'

/** How often each of a few things has happened. */
export class Counts {
  readonly #counts = new Map<string, number>()

  add(key: string, times = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + times)
  }

  entries(): Iterable<readonly [key: string, count: number]> {
    return this.#counts.entries()
  }
}

/** How measured values are spread: `counts[i]` of them were at most `bounds[i]`, and above the bound before it. */
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

/** What has happened in a space since it was opened. Plain numbers, because envelopes pass here; others read them. */
export class SpaceMetrics {
  /** Envelopes in the log, by class of kinds. */
  readonly accepted = new Counts()
  /** Envelopes that were refused, by code. */
  readonly refused = new Counts()
  /** Seconds that the log took for one batch. */
  readonly commits = new Histogram([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5])
  failedCommits = 0
  /** What the guard has found, by what became of it. */
  readonly findings = new Counts()
  /** Connections that were closed because their peer took too little. */
  slowCloses = 0
  /** How often a connection was read no further for a while, because the log had fallen behind or its rates were used up. */
  heldReads = 0
  /** What subscriptions have cut. */
  readonly suppressed = { envelopes: 0, bytes: 0 }
  /** Thoughts of hidden runs, each counted once. */
  withheldThoughts = 0

  committed(batch: readonly Draft[], seconds: number): void {
    this.commits.add(seconds)
    let [last, times] = ['', 0]
    for (const { kind } of batch) {
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
