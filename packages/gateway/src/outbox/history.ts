import { type Detail, isShown } from '@meup/protocol'
import type { Entry, Filter } from '../ports/envelope-log.js'
import { mayRead, type Reader } from '../space/may-read.js'
import type { Source } from './backfill.js'
import type { Message } from './parcel.js'

/** Rows that are read at once; fewer at first, and where they are large. */
const page = { first: 32, most: 256, bytes: 1024 * 1024 }
/** One request looks at so many rows, and takes so many bytes of those that fit, before it says where to go on. */
const maxRows = 10_000
const maxBytes = 8 * 1024 * 1024

export interface HistoryQuery {
  readonly after: number
  readonly before: number
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly filter: Filter
  readonly reasoning: Detail
  /** What the filter cannot say; absent = everything. */
  includes?(entry: Entry): boolean
}

/** A part of the log. */
export interface History {
  /** Last seq of the log when it was looked at. */
  readonly head: number
  readonly messages: readonly Message[]
  /** `after` of the next part, or `before` in descending order; absent = there is no more. It may turn out empty. */
  readonly next?: number
}

/** What a reader may read of the log, by the same predicate as live delivery [MEUP-8.1, 11.3]. */
export async function readHistory(reader: Reader, source: Source, query: HistoryQuery): Promise<History> {
  const { limit, order, filter, reasoning } = query
  const step = order === 'asc' ? 1 : -1
  const head = source.delivered
  const { after, before, isWhole } = windowOf({ oldest: source.log.oldest, head }, query)
  const messages: Message[] = []
  let range = { after, before }
  let [bytes, looked, rowsAtOnce] = [0, 0, page.first]
  for (;;) {
    const rows = await source.log.read({ ...range, limit: rowsAtOnce, order, filter })
    looked += rows.length
    const isLast = rows.length < rowsAtOnce
    rowsAtOnce = fitting(rows)
    for (const row of rows) {
      if (messages.length === limit || bytes >= maxBytes) return { messages, head, next: row.seq - step }
      if (query.includes?.(row) === false) continue
      bytes += row.body.length
      const delivery = source.deliveryOf(row)
      if (mayRead(reader, delivery.audience) && isShown(reasoning, row)) messages.push(delivery.message)
    }
    const last = rows.at(-1)
    if (last === undefined || isLast) break
    if (looked >= maxRows) return { messages, head, next: last.seq }
    range = order === 'asc' ? { after: last.seq, before } : { after, before: last.seq }
  }
  if (isWhole) return { messages, head }
  return { messages, head, next: order === 'asc' ? before - 1 : after + 1 }
}

/** So many rows like these are about as much as is read at once. */
function fitting(rows: readonly Entry[]): number {
  const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
  const average = bytes / Math.max(rows.length, 1)
  return Math.min(page.most, Math.max(4, Math.floor(page.bytes / Math.max(average, 1))))
}

/** The rows that one request may look at, and whether these are all that were asked for. */
function windowOf(
  { oldest, head }: { readonly oldest: number; readonly head: number },
  query: HistoryQuery,
): { readonly after: number; readonly before: number; readonly isWhole: boolean } {
  const after = Math.max(query.after, oldest - 1)
  const before = Math.min(query.before, head + 1)
  // What is in a context is found without looking at the rest.
  const isFew = query.filter.context !== undefined || before - after <= maxRows + 1
  if (isFew) return { after, before, isWhole: true }
  return query.order === 'asc'
    ? { after, before: after + maxRows + 1, isWhole: false }
    : { after: before - maxRows - 1, before, isWhole: false }
}
