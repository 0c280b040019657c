import { correlations } from '@meup/protocol'
import { isErased, matches } from '../../log/entries.js'
import type { Clock } from '../../ports/clock.js'
import type { EnvelopeLog, Heading, Query, Row, RowPart } from '../../ports/envelope-log.js'
import {
  type Audience,
  getRightsKey,
  type LoggedAddress,
  mayAllRead,
  mayRead,
  type Reader,
  type ReadRights,
} from '../may-read.js'
import type { Rates } from '../metering.js'
import { yieldNow } from '../yielding.js'

/** The reader, and the bucket that pays for its reads. */
export interface LogReader {
  readonly rateLimitKey: string
  /** Whether reading can stop because the reader has disconnected. */
  isGone(): boolean
}

export type EntryQuery = Pick<Query, 'order' | 'filter'> & {
  readonly after: number
  readonly before: number
  /** Size of the first read, if fewer entries than usual are likely to suffice. */
  readonly first?: number
  /** Reads only these seqs, in ascending order. */
  readonly seqs?: readonly number[]
}

/** Rows without a gap. Rows that the reader may not read have no bodies. */
export interface Slice {
  readonly rows: readonly Row[]
  /** The `audienceVersion` for which readability was decided. */
  readonly version: string
}

/** The part of a space that reads use. */
export interface ReadSpace {
  readonly log: EnvelopeLog
  readonly rates: Rates
  readonly clock: Clock
  readonly audienceVersion: string
  decideAudience(envelope: LoggedAddress): Audience
}

/** Maximum rows of one read, and maximum bytes of their bodies. */
const maxSlice = { rows: 256, bytes: 256 * 1024 }
/** Minimum number of headings per read, even if bodies are large. */
const minRows = 16
/** Maximum number of headings per read when a filter skips most of them. */
const maxFilteredRows = 1024
/** Concurrent reads of one rateLimitKey; further ones wait. */
const maxSlicesAtOnce = 4
/**
 * Units of work [MEUP-7.8]: per seq, per returned envelope, per correlation id after the first (each needs a lookup to decide
 * who may read a response), and bytes per unit.
 */
const cost = { seq: 1, row: 1, furtherAnswered: 16, bytesPerUnit: 512 }
/** Part of the `work` burst that reads leave to the envelopes of the same rateLimitKey. */
const reservedPart = 0.5
/** Longest wait before a disconnected reader is noticed. */
const maxWaitMs = 1000

/**
 * Reads the log for every kind of reader: in slices, yielding between them, charged to the reader's `work` bucket, until the
 * reader disconnects. So no reader gets more than a fair share. The same headings are read whatever the filter, and bodies only
 * if readable, so that neither time nor cost reveals unreadable envelopes [MEUP-8.6].
 */
export class LogReads {
  readonly #space: ReadSpace
  readonly #slots = new Slots(maxSlicesAtOnce)
  readonly #shared = new SharedSlices()

  constructor(space: ReadSpace) {
    this.#space = space
  }

  /** Readable rows that pass the filter, between `after` and `before`, both exclusive. */
  async *entries(reader: Reader & LogReader, query: EntryQuery): AsyncGenerator<readonly Row[], void> {
    const { order = 'asc', first = maxSlice.rows } = query
    let limit = Math.min(first, maxSlice.rows)
    for await (const found of this.headings(reader, query)) {
      for (let left = found; left.length > 0; ) {
        const asked = left.slice(0, limit)
        const rows = await this.#slot(reader, () => this.#readBodies(asked, order))
        if (rows === undefined) return
        const last = isCut(rows) ? rows.at(-1) : undefined
        left = left.slice(
          last === undefined ? asked.length : asked.findIndex(({ seq }) => seq === last.seq) + 1,
        )
        this.#charge(reader, 0, rows)
        const readable = rows.filter((row) => !isErased(row))
        if (readable.length > 0) yield readable
        limit = maxSlice.rows
        await yieldNow()
        if (left.length > 0 && !(await this.waitForBudget(reader))) return
      }
    }
  }

  /** Like `entries`, without bodies. */
  async *headings(reader: Reader & LogReader, query: EntryQuery): AsyncGenerator<readonly Heading[], void> {
    const { log } = this.#space
    const { order = 'asc', filter = {}, first = maxSlice.rows } = query
    if (query.seqs !== undefined) {
      yield* this.#headingsAt(reader, { seqs: query.seqs, order, filter })
      return
    }
    const { context } = filter
    // A context does not count as a filter that skips most rows: the log finds its envelopes by an index.
    const isFiltered = context === undefined && Object.keys(filter).length > 0
    let limit = isFiltered ? maxFilteredRows : Math.min(first, maxSlice.rows)
    let after = Math.max(query.after, log.oldest - 1)
    let before = Math.min(query.before, log.head + 1)
    while (before - after > 1 && (await this.waitForBudget(reader))) {
      const range = context === undefined ? boundRange({ after, before }, limit, order) : { after, before }
      const rows = await this.#slot(reader, () =>
        log.read({ ...range, limit, order, ...(context && { filter: { context } }), only: 'headings' }),
      )
      if (rows === undefined) return
      const last = context === undefined || rows.length < limit ? undefined : rows.at(-1)
      if (order === 'asc') after = last?.seq ?? range.before - 1
      else before = last?.seq ?? range.after + 1
      this.#charge(reader, context === undefined ? range.before - range.after - 1 : limit)
      const found = rows.filter((row) => this.#mayRead(reader, row) && matches(filter, row))
      if (found.length > 0) yield found
      limit = isFiltered ? maxFilteredRows : maxSlice.rows
      await yieldNow()
    }
  }

  async *#headingsAt(
    reader: Reader & LogReader,
    { seqs, order, filter }: Required<Pick<EntryQuery, 'seqs' | 'order' | 'filter'>>,
  ): AsyncGenerator<readonly Heading[], void> {
    for (let left = seqs; left.length > 0 && (await this.waitForBudget(reader)); ) {
      const [part, rest] =
        order === 'asc' ? splitAt(left, maxSlice.rows) : splitAt(left, -maxSlice.rows).reverse()
      const asked = part ?? []
      const rows = await this.#slot(reader, () => this.#readAt(asked, order, 'headings'))
      if (rows === undefined) return
      this.#charge(reader, asked.length)
      const found = rows.filter((row) => this.#mayRead(reader, row) && matches(filter, row))
      if (found.length > 0) yield found
      left = rest ?? []
      await yieldNow()
    }
  }

  /**
   * All rows between `after` and `before`, with bodies if the reader may read them, for readers that continue with live
   * delivery. Slices are shared between readers, except `withProofs`, which adds the hash proof of each row.
   */
  async *replay(
    reader: Reader & LogReader,
    { after: start, before, withProofs = false }: Replayed,
  ): AsyncGenerator<Slice, void> {
    this.#shared.enter()
    try {
      let after = Math.max(start, this.#space.log.oldest - 1)
      let limit = maxSlice.rows
      while (before - after > 1 && (await this.waitForBudget(reader))) {
        const range = { ...boundRange({ after, before }, limit, 'asc'), withProofs }
        const slice = await this.#slot(reader, () => this.#readSlice(reader, range))
        const last = slice?.rows.at(-1)
        if (slice === undefined || last === undefined) return
        const { rows } = slice
        const given = rows.filter(({ body }) => body.length > 0)
        this.#charge(reader, rows.length, given)
        after = last.seq
        // If bodies are large, a full slice would read many headings again each time.
        limit = Math.min(maxSlice.rows, Math.max(minRows, 2 * rows.length))
        yield slice
        await yieldNow()
      }
    } finally {
      this.#shared.leave()
    }
  }

  /** Drops the cached slices of the log that readers share. */
  forget(): void {
    this.#shared.clear()
  }

  /** The rows after `after` up to `head` with their proofs. Ends early if a row is missing. */
  async *rows(reader: LogReader, after: number, head: number): AsyncGenerator<Row, void> {
    const { log } = this.#space
    let last = after
    while (last < head && (await this.waitForBudget(reader))) {
      const range = boundRange({ after: last, before: head + 1 }, maxSlice.rows, 'asc')
      const rows = await this.#slot(reader, () =>
        log.read({ ...range, limit: maxSlice.rows, maxBytes: maxSlice.bytes }),
      )
      if (rows === undefined || rows.length === 0) return
      this.#charge(reader, rows.length, rows)
      for (const row of rows) {
        if (row.seq !== last + 1) return
        yield row
        last = row.seq
      }
      await yieldNow()
    }
  }

  /** Waits until the rateLimitKey can pay. Resolves to whether the reader is still connected. */
  async waitForBudget(reader: LogReader): Promise<boolean> {
    const { rates, clock } = this.#space
    while (!reader.isGone()) {
      const ms = rates.wait(reader.rateLimitKey, 'work', clock.now(), reservedPart)
      if (ms === 0) return true
      await new Promise<void>((resolve) => clock.after(Math.min(ms, maxWaitMs), resolve))
    }
    return false
  }

  /** Limits concurrent reads per rateLimitKey; `undefined` = the reader has disconnected. */
  #slot<Found>(reader: LogReader, read: () => Promise<Found>): Promise<Found | undefined> {
    return this.#slots.run(reader.rateLimitKey, async () => (reader.isGone() ? undefined : read()))
  }

  /** Charges for the seqs read and the envelopes returned. */
  #charge({ rateLimitKey }: LogReader, seqs: number, given: readonly Row[] = []): void {
    const { rates, clock } = this.#space
    const further = given.reduce((sum, row) => sum + Math.max(0, correlations(row).length - 1), 0)
    const units =
      seqs * cost.seq +
      given.length * cost.row +
      further * cost.furtherAnswered +
      countBytes(given) / cost.bytesPerUnit
    rates.charge(rateLimitKey, 'work', units, clock.now())
  }

  #mayRead(reader: Reader, heading: Heading): boolean {
    return mayRead(reader, this.#space.decideAudience(heading))
  }

  /** The bodies of these headings, at least one, up to the byte limit. */
  #readBodies(asked: readonly Heading[], order: 'asc' | 'desc', { withProofs = false } = {}): Promise<Row[]> {
    const seqs = asked.map(({ seq }) => seq)
    if (order === 'desc') seqs.reverse()
    return this.#readAt(seqs, order, withProofs ? undefined : 'bodies')
  }

  #readAt(seqs: readonly number[], order: 'asc' | 'desc', only: RowPart | undefined): Promise<Row[]> {
    const range = { after: (seqs[0] ?? 0) - 1, before: (seqs.at(-1) ?? 0) + 1, limit: seqs.length, order }
    return this.#space.log.read({
      ...range,
      maxBytes: maxSlice.bytes,
      filter: { seqs },
      ...(only && { only }),
    })
  }

  async #readSlice(reader: Reader, range: Range): Promise<Slice> {
    for (;;) {
      const { audienceVersion: version } = this.#space
      const read = (): Promise<OpenSlice> => this.#readOpen(range, reader)
      const key = `${version} ${getRightsKey(reader)} ${range.after} ${range.before}`
      const open = await (range.withProofs ? read() : this.#shared.get(key, read))
      const own = open.others.filter(({ audience }) => mayRead(reader, audience)).map(({ row }) => row)
      const rows = own.length === 0 ? open.rows : await this.#addBodies(open.rows, own, range)
      // Audiences changed during the read, so the reader may now read rows that were left out.
      if (version === this.#space.audienceVersion) return { rows, version }
    }
  }

  /** Reads the bodies that every reader with these rights may read. */
  async #readOpen({ withProofs, ...range }: Range, rights: ReadRights): Promise<OpenSlice> {
    const only = withProofs ? 'proofs' : 'headings'
    const headings = await this.#space.log.read({ ...range, limit: maxSlice.rows, only })
    const all: Row[] = []
    const others: OpenSlice['others'][number][] = []
    for (const row of headings) {
      const audience = this.#space.decideAudience(row)
      if (mayAllRead(rights, audience)) all.push(row)
      else others.push({ row, audience })
    }
    const rows = await this.#addBodies(headings, all, { withProofs })
    const through = rows.at(-1)?.seq ?? 0
    return { rows, others: others.filter(({ row }) => row.seq <= through) }
  }

  /** Adds the bodies of some rows, and cuts the rows where the byte limit is reached. */
  async #addBodies(
    rows: readonly Row[],
    some: readonly Row[],
    part: Pick<Range, 'withProofs'>,
  ): Promise<readonly Row[]> {
    if (some.length === 0) return rows
    const whole = await this.#readBodies(some, 'asc', part)
    const last = isCut(whole) ? whole.at(-1) : undefined
    const through = last?.seq ?? rows.at(-1)?.seq ?? 0
    if (whole.length === rows.length) return whole
    const bySeq = new Map(whole.map((row) => [row.seq, row]))
    return rows.filter(({ seq }) => seq <= through).map((row) => bySeq.get(row.seq) ?? row)
  }
}

interface Range {
  readonly after: number
  readonly before: number
  readonly withProofs: boolean
}

type Replayed = Pick<Range, 'after' | 'before'> & Partial<Range>

/** Rows with the bodies that all readers with the same rights may read, and the rows for some readers only. */
interface OpenSlice {
  readonly rows: readonly Row[]
  readonly others: readonly { readonly row: Row; readonly audience: Audience }[]
}

const boundRange = (
  { after, before }: Pick<Range, 'after' | 'before'>,
  seqs: number,
  order: 'asc' | 'desc',
): Pick<Range, 'after' | 'before'> =>
  order === 'asc'
    ? { after, before: Math.min(before, after + seqs + 1) }
    : { after: Math.max(after, before - seqs - 1), before }

const splitAt = <Item>(items: readonly Item[], at: number): (readonly Item[])[] => [
  items.slice(0, at),
  items.slice(at),
]

const countBytes = (rows: readonly Row[]): number => rows.reduce((sum, { body }) => sum + body.length, 0)

/** Whether the byte limit was reached. */
const isCut = (rows: readonly Row[]): boolean => countBytes(rows) >= maxSlice.bytes

/** Runs at most `count` tasks of one key at a time; the others queue. */
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
        next() // The waiting task takes over the slot.
      else if (--slots.taken === 0) this.#byKey.delete(key)
    }
  }
}

/** Maximum number of cached slices of the log: some megabytes in all. */
const maxSlices = 16

/**
 * Reads a slice once for all who request it at about the same time, as after an outage, when everyone resumes from the same
 * seq. Logged rows do not change, so a slice stays valid until a pruning or an erasure. The slices are kept while anyone reads.
 */
class SharedSlices {
  /** LRU by range, most recent last. */
  readonly #slices = new Map<string, Promise<OpenSlice>>()
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

  get(key: string, read: () => Promise<OpenSlice>): Promise<OpenSlice> {
    const slice = this.#slices.get(key) ?? this.#keepGood(key, read())
    this.#slices.delete(key)
    this.#slices.set(key, slice)
    const [leastUsed] = this.#slices.keys()
    if (this.#slices.size > maxSlices && leastUsed !== undefined) this.#slices.delete(leastUsed)
    return slice
  }

  #keepGood(key: string, slice: Promise<OpenSlice>): Promise<OpenSlice> {
    slice.catch(() => {
      // A failed read is not cached.
      if (this.#slices.get(key) === slice) this.#slices.delete(key)
    })
    return slice
  }
}
