import { type Detail, isShown } from '@meup/protocol'
import { createLoggedMessage, type Message } from '../../ports/connection.js'
import type { Entry, Filter } from '../../ports/envelope-log.js'
import type { Reader } from '../may-read.js'
import type { RowSource } from './backfill.js'
import type { LogReader } from './log-reads.js'

/** Limits of one request: seqs, readable envelopes of a context, and bytes. The answer says where to continue. */
const maxRows = 10_000
const maxBytes = 8 * 1024 * 1024

interface HistoryQuery {
  readonly after: number
  readonly before: number
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly filter: Filter
  readonly reasoning: Detail
  /** A condition beyond the filter; absent = everything. */
  includes?(entry: Entry): boolean
}

/** One page of the log, as the reader may see it. */
interface History {
  /** Last seq of the log at the time of the request. */
  readonly head: number
  readonly messages: readonly Message[]
  /** `after` of the next page, or `before` in descending order; absent = no more. The next page may be empty. */
  readonly next?: number
}

/**
 * Reads history by the same predicate as live delivery [MEUP-8.1, 11.3]. The answer and its continuation depend only on the
 * query, the head, and the readable envelopes, so they reveal nothing about unreadable ones.
 */
export async function readHistory(
  reader: Reader & LogReader,
  source: RowSource,
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

/** The range that one request reads, cut to its limits, and whether it was not cut. */
function boundRange(
  { oldest, head }: { readonly oldest: number; readonly head: number },
  query: Pick<HistoryQuery, 'after' | 'before' | 'order' | 'filter'>,
): { readonly after: number; readonly before: number; readonly isWhole: boolean } {
  const after = Math.max(query.after, oldest - 1)
  const before = Math.min(query.before, head + 1)
  // The range need not be cut if the query names a context: the log finds the envelopes of a context by an index.
  const isFew = query.filter.context !== undefined || before - after <= maxRows + 1
  if (isFew) return { after, before, isWhole: true }
  return query.order === 'asc'
    ? { after, before: after + maxRows + 1, isWhole: false }
    : { after: before - maxRows - 1, before, isWhole: false }
}
