import { correlations } from '@meup/protocol'
import type { Clock } from '../../ports/clock.js'
import type { Entry, EnvelopeLog, Query, Row } from '../../ports/envelope-log.js'
import type { Rates } from '../metering.js'
import { yieldNow } from '../yielding.js'

/** Who reads, and whose bucket pays. */
export interface LogReader {
  readonly rateLimitKey: string
  /** Nobody waits for it any more: reading ends. */
  isGone(): boolean
}

export type SliceQuery = Pick<Query, 'order' | 'filter'> & {
  readonly after: number
  readonly before: number
  /** Rows of the first slice, where fewer than usual are likely to do. */
  readonly first?: number
  /** Whether slices may be what others were given just now. Not for those who look whether the log is still whole. */
  readonly isShared?: boolean
}

/** Rows that are read at once, and bytes of their bodies. */
const maxSlice = { rows: 256, bytes: 256 * 1024 }
/** Seqs that a filter is compared with at once, where no index finds what it selects. */
const maxFilteredSeqs = 2048
/** Slices of one rateLimitKey that are read at once; the next waits for one of them. */
const maxSlicesAtOnce = 4
/**
 * Units of work [MEUP-7.8] for a row that is given, for each id that it answers beyond the first (where responses are for
 * some alone, what each of them answers is looked up, and what that answers), for a seq that a filter passes over, and bytes
 * that cost one more.
 */
const cost = { row: 2, furtherAnswered: 16, passedSeq: 0.25, bytesPerUnit: 512 }
/** Part of the burst of `work` that reading leaves to what the rateLimitKey sends. */
const reservedPart = 0.5
/** A reader that has gone is noticed after so long at the latest. */
const maxWaitMs = 1000

/**
 * How everybody who asks reads the log: in slices, with other work between them, paid by the reader's bucket `work` and no
 * longer than it is wanted. So nobody gets more than a fair part of what the log can give.
 */
export class LogReads {
  readonly #space: { readonly log: EnvelopeLog; readonly rates: Rates; readonly clock: Clock }
  readonly #slots = new Slots(maxSlicesAtOnce)
  readonly #shared = new SharedSlices()

  constructor(space: { readonly log: EnvelopeLog; readonly rates: Rates; readonly clock: Clock }) {
    this.#space = space
  }

  /** The entries between `after` and `before`, both excluded, a slice after the other. Ends early when the reader is gone. */
  async *slices(reader: LogReader, query: SliceQuery): AsyncGenerator<readonly Entry[], void> {
    if (query.isShared) this.#shared.enter()
    try {
      yield* this.#slices(reader, { ...query, only: 'bodies' })
    } finally {
      if (query.isShared) this.#shared.leave()
    }
  }

  async *#slices(
    reader: LogReader,
    query: SliceQuery & Pick<Query, 'only'>,
  ): AsyncGenerator<readonly Row[], void> {
    const { log, rates, clock } = this.#space
    const { order = 'asc', first = maxSlice.rows, only } = query
    const filter = isEmpty(query.filter) ? undefined : query.filter
    const isShared = filter === undefined && query.isShared === true
    const step = filter !== undefined && filter.context === undefined ? maxFilteredSeqs : Infinity
    let after = Math.max(query.after, log.oldest - 1)
    let before = Math.min(query.before, log.head + 1)
    let limit = Math.min(first, maxSlice.rows)
    while (before - after > 1 && (await this.waitForBudget(reader))) {
      const range =
        order === 'asc'
          ? { after, before: Math.min(before, after + step + 1) }
          : { after: Math.max(after, before - step - 1), before }
      const slice = { ...range, limit, maxBytes: maxSlice.bytes, order, ...(only && { only }) }
      const rows = await this.#slots.run(reader.rateLimitKey, async () => {
        if (reader.isGone()) return undefined
        return isShared ? this.#shared.read(log, slice) : log.read({ ...slice, ...(filter && { filter }) })
      })
      if (rows === undefined) return
      const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
      const last = rows.at(-1)
      const isWhole = last === undefined || (rows.length < limit && bytes < maxSlice.bytes)
      const seqsBefore = before - after
      if (order === 'asc') after = isWhole ? range.before - 1 : last.seq
      else before = isWhole ? range.after + 1 : last.seq
      const passed = step === Infinity ? 0 : seqsBefore - (before - after) - rows.length
      const further = rows.reduce((sum, row) => sum + Math.max(0, correlations(row).length - 1), 0)
      const units =
        rows.length * cost.row +
        further * cost.furtherAnswered +
        passed * cost.passedSeq +
        bytes / cost.bytesPerUnit
      rates.charge(reader.rateLimitKey, 'work', units, clock.now())
      if (rows.length > 0) yield rows
      limit = maxSlice.rows
      await yieldNow()
    }
  }

  /** Drops what was read lately. */
  forget(): void {
    this.#shared.clear()
  }

  /** The rows after `after` up to `head`, one after another, with what proves them. Ends early where one is missing, too. */
  async *rows(reader: LogReader, after: number, head: number): AsyncGenerator<Row, void> {
    let last = after
    for await (const slice of this.#slices(reader, { after, before: head + 1 })) {
      for (const row of slice) {
        if (row.seq !== last + 1) return
        yield row
        last = row.seq
      }
    }
  }

  /** Waits until the rateLimitKey can pay; whether the reader is still there then. */
  async waitForBudget(reader: LogReader): Promise<boolean> {
    const { rates, clock } = this.#space
    while (!reader.isGone()) {
      const ms = rates.wait(reader.rateLimitKey, 'work', clock.now(), reservedPart)
      if (ms === 0) return true
      await new Promise<void>((resolve) => clock.after(Math.min(ms, maxWaitMs), resolve))
    }
    return false
  }
}

/** Runs at most so many tasks of one key at a time; the others wait for their turn. */
export class Slots {
  readonly #count: number
  readonly #byKey = new Map<string, { taken: number; readonly waiting: (() => void)[] }>()

  constructor(count: number) {
    this.#count = count
  }

  async run<Value>(key: string, task: () => Promise<Value>): Promise<Value> {
    const slots = this.#byKey.get(key) ?? { taken: 0, waiting: [] }
    this.#byKey.set(key, slots)
    if (slots.taken < this.#count) slots.taken++
    else await new Promise<void>((resolve) => slots.waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = slots.waiting.shift()
      if (next !== undefined)
        next() // It takes the place over.
      else if (--slots.taken === 0) this.#byKey.delete(key)
    }
  }
}

const isEmpty = (filter: object | undefined): boolean =>
  filter === undefined || Object.keys(filter).length === 0

/** Each is a slice of `LogReads`: all of them come to some megabytes. */
const maxSlices = 16

type SliceOfAll = Omit<Query, 'filter'> & { readonly after: number; readonly before: number }

/**
 * Reads a slice once for all who ask for it at about the same time: after an outage everybody comes back to the same
 * place. Rows of a log do not change, so what was read is good until it has been pruned or erased. Kept while somebody reads.
 */
class SharedSlices {
  /** By what was asked for, the latest use last. */
  readonly #slices = new Map<string, Promise<readonly Row[]>>()
  #oldest = 0
  #readers = 0

  enter(): void {
    this.#readers++
  }

  leave(): void {
    if (--this.#readers === 0) this.#slices.clear()
  }

  clear(): void {
    this.#slices.clear()
  }

  read(log: EnvelopeLog, query: SliceOfAll): Promise<readonly Row[]> {
    const { oldest } = log
    if (oldest !== this.#oldest) this.#slices.clear()
    this.#oldest = oldest
    const { order, after, before } = query
    // Seqs have no gaps: where the other end is further away than the limit, it makes no difference.
    const limit = Math.min(query.limit, before - after - 1)
    const key = `${order} ${order === 'desc' ? before : after} ${limit}`
    const slice = this.#slices.get(key) ?? this.#keepGood(key, log.read(query))
    this.#slices.delete(key)
    this.#slices.set(key, slice)
    const [leastUsed] = this.#slices.keys()
    if (this.#slices.size > maxSlices && leastUsed !== undefined) this.#slices.delete(leastUsed)
    return slice
  }

  #keepGood(key: string, slice: Promise<readonly Row[]>): Promise<readonly Row[]> {
    slice.catch(() => {
      // The next to ask may be luckier.
      if (this.#slices.get(key) === slice) this.#slices.delete(key)
    })
    return slice
  }
}
