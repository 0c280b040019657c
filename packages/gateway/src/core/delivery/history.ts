import { type Detail, isShown } from '@meup/protocol'
import { createLoggedMessage, type Message } from '../../ports/connection.js'
import type { Entry, Filter } from '../../ports/envelope-log.js'
import type { Reader } from '../may-read.js'
import type { Source } from './backfill.js'
import type { LogReader } from './log-reads.js'

/**
 * One request looks at so many seqs, or in a context at so many envelopes that may be read, and takes so many bytes of those
 * that fit, before it says where to go on.
 */
const maxRows = 10_000
const maxBytes = 8 * 1024 * 1024

interface HistoryQuery {
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
interface History {
  /** Last seq of the log when it was looked at. */
  readonly head: number
  readonly messages: readonly Message[]
  /** `after` of the next part, or `before` in descending order; absent = there is no more. It may turn out empty. */
  readonly next?: number
}

/**
 * What a reader may read of the log, by the same predicate as live delivery [MEUP-8.1, 11.3]. All of the answer, and where
 * it says to go on, follows from the query, the head, and what may be read: whatever else lies between changes none of it.
 */
export async function readHistory(
  reader: Reader & LogReader,
  source: Source,
  query: HistoryQuery,
): Promise<History> {
  const { limit, order, filter, reasoning } = query
  const head = source.delivered
  const { after, before, isWhole } = boundRange({ oldest: source.log.oldest, head }, query)
  const messages: Message[] = []
  let [bytes, looked, last] = [0, 0, 0]
  for await (const rows of source.reads.entries(reader, { after, before, order, filter, first: limit + 1 })) {
    for (const row of rows) {
      if (looked++ === maxRows) return { messages, head, next: last }
      const isAsked = isShown(reasoning, row) && query.includes?.(row) !== false
      if (isAsked && (messages.length === limit || bytes >= maxBytes)) return { messages, head, next: last }
      last = row.seq
      if (!isAsked) continue
      messages.push(createLoggedMessage(row))
      bytes += row.body.length
    }
  }
  if (isWhole) return { messages, head }
  return { messages, head, next: order === 'asc' ? before - 1 : after + 1 }
}

/** The rows that one request may look at, and whether these are all that were asked for. */
function boundRange(
  { oldest, head }: { readonly oldest: number; readonly head: number },
  query: Pick<HistoryQuery, 'after' | 'before' | 'order' | 'filter'>,
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
