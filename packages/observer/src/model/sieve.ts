import type { Envelope } from '@meup/protocol'
import { type Filter, isFiltering, leadsTo, passes } from './filter.js'
import type { Lens } from './lens.js'
import type { Log } from './log.js'
import { Search } from './search.js'
import { holderOf } from './searched-text.js'

/** Envelopes between two looks at the clock, and how many times as many are counted at once. */
const [portion, somePortions] = [64, 64]

/** What of a log a reader wants to see. */
export class Sieve {
  readonly lens: Lens
  readonly search = new Search()
  /** Changes whenever a search begins. */
  round = 0
  readonly #log: Log
  /** Envelopes that were counted, and how many of them do not pass. */
  #counted = 0
  #dropped = 0

  constructor(lens: Lens, log: Log) {
    this.lens = lens
    this.#log = log
    this.search.ask(lens.query)
  }

  filter(filter: Filter): void {
    this.lens.filter = filter
    this.#recount()
  }

  find(query: string): void {
    this.lens.query = query
    this.search.ask(query)
    this.round++
    this.#recount()
  }

  /** There are more envelopes at the end than so many. What is new in a search that goes on waits for its turn. */
  grew(before: number): void {
    if (this.search.isThrough(before)) this.search.work(this.#log.envelopes)
  }

  /** Goes on searching until this time, in milliseconds of `performance.now()`. Whether the search is through. */
  work(until: number): boolean {
    const isThrough = this.search.work(this.#log.envelopes, () => performance.now() >= until)
    if (isThrough) this.#recount()
    return isThrough
  }

  /** Other envelopes than before. */
  again(): void {
    this.search.again()
    this.round++
    this.#recount()
  }

  isShown(envelope: Envelope): boolean {
    const { filter } = this.lens
    return passes(envelope, filter) && (!filter.isHitsOnly || this.isSought(envelope))
  }

  /** Whether it is one of the lines that alone are asked for, which then show in folded runs as well. */
  isSought(envelope: Envelope): boolean {
    const { filter } = this.lens
    return filter.isHitsOnly && this.search.isOn && this.search.has(holderOf(envelope) ?? '')
  }

  /** Whether the heading of a run is asked for by name. */
  leadsTo(root: string): boolean {
    return leadsTo(root, this.lens.filter)
  }

  /** Envelopes that the filter keeps from the reader, of those that were counted. */
  get dropped(): number {
    let left = somePortions
    this.count(() => left-- === 0)
    return this.#dropped
  }

  /** Whether envelopes are still to be counted. */
  get isBehind(): boolean {
    return isFiltering(this.lens.filter) && this.#counted < this.#log.envelopes.length
  }

  /** Counts what the filter keeps from the reader until its time is up. Whether that is through. */
  count(isTimeUp: () => boolean): boolean {
    const { envelopes } = this.#log
    while (this.isBehind) {
      if (this.#counted % portion === 0 && isTimeUp()) return false
      const envelope = envelopes[this.#counted++]
      if (envelope !== undefined && !this.isShown(envelope)) this.#dropped++
    }
    return true
  }

  #recount(): void {
    this.#counted = 0
    this.#dropped = 0
  }
}
