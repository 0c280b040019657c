import { closeCodes } from '@meup/protocol'
import type { Entry, EnvelopeLog, Heading } from '../../ports/envelope-log.js'
import { type Audience, type LoggedAddress, mayRead, type Reader } from '../may-read.js'
import { yieldNow } from '../yielding.js'
import { Batch, type Delivery } from './broadcast.js'
import type { EntryQuery, LogReader, LogReads, Slice } from './log-reads.js'
import type { Session } from './session.js'

const portionBytes = 256 * 1024
const portionRows = 64

/** The part of a space that is needed to find the range of a replay. */
export interface RowSource {
  readonly log: EnvelopeLog
  /** Last seq that was broadcast to the live sessions. */
  readonly delivered: number
  readonly reads: LogReads
  createDelivery(entry: Entry): Delivery
  decideAudience(envelope: LoggedAddress): Audience
}

/** The part of a space that a backfill uses. */
interface BackfillSource extends RowSource {
  /** Changes whenever the audience of logged envelopes may have changed. */
  readonly audienceVersion: string
}

/** Batches built from a slice of the log that readers share, and the `audienceVersion` for which they were built. */
interface Portioned {
  readonly version: string
  readonly batches: readonly Batch[]
}

const portioned = new WeakMap<readonly Entry[], Portioned>()

/** Readers that reconnect together share slices, so the batches of a slice are built once. */
function shareBatches(rows: readonly Entry[], source: BackfillSource): readonly Batch[] {
  const version = source.audienceVersion
  const known = portioned.get(rows)
  if (known?.version === version) return known.batches
  const portions = [...splitPortions(rows)]
  const batches = portions.map((portion) => new Batch(portion.map((row) => source.createDelivery(row))))
  portioned.set(rows, { version, batches })
  return batches
}

/** Whether the slice lacks bodies that the reader may read by now. */
export const isOutdated = (slice: Slice, reader: Reader, source: BackfillSource): boolean =>
  slice.version !== source.audienceVersion &&
  slice.rows.some((row) => row.body.length === 0 && mayRead(reader, source.decideAudience(row)))

/**
 * Backfill: reads the log from the session's position until it has caught up with the broadcasts. Cutover: makes the session
 * live in the same synchronous step, so nothing is lost or repeated [MEUP-5.3]. Reads no faster than the peer.
 */
export async function backfill(session: Session, source: BackfillSource): Promise<void> {
  while (!session.isGone()) {
    const { position: after } = session
    if (after >= source.delivered) {
      session.live = true
      return
    }
    // Rows after `delivered` may be in the log, but their audience is not decided yet: they are broadcast later.
    const missed = { after, before: source.delivered + 1 }
    let lacksBodies = false
    for await (const slice of source.reads.replay(session, missed)) {
      const { rows } = slice
      if (rows[0]?.seq !== session.position + 1) break
      for (let at = 0; ; at++) {
        lacksBodies = isOutdated(slice, session, source)
        // Builds the batch again if audiences changed while the peer was slow.
        const batch = lacksBodies ? undefined : shareBatches(rows, source)[at]
        if (batch === undefined) break
        batch.serve(session)
        await session.connection.drained()
        await yieldNow() // If the subscription filtered out the whole batch, `drained` did not wait.
      }
      if (lacksBodies) break
    }
    if (lacksBodies || session.position > after || session.isGone()) continue
    session.close(closeCodes.tooSlow, 'the next envelopes were pruned; reconnect with after=')
  }
}

/**
 * Splits a page into portions that leave room in the send buffer, so that echoes and errors can be sent between them without
 * overfilling it.
 */
export function* splitPortions(rows: readonly Entry[]): Generator<Entry[]> {
  let [portion, bytes]: [Entry[], number] = [[], 0]
  for (const row of rows) {
    portion.push(row)
    bytes += row.body.length
    if (bytes < portionBytes && portion.length < portionRows) continue
    yield portion
    portion = []
    bytes = 0
  }
  if (portion.length > 0) yield portion
}

/** The range of a replay: it starts after `after` and ends with `last`, the reader's last envelope in the log; 0 = none. */
export interface SeqSpan {
  readonly after: number
  readonly last: number
}

/** The range of the last `count` envelopes that the reader may see. */
export async function tailSpan(
  count: number,
  reader: Reader & LogReader,
  source: RowSource,
): Promise<SeqSpan> {
  const { delivered } = source
  let [after, last, left] = [delivered, 0, count]
  if (count === 0) return { after, last }
  for await (const row of newestFirst(reader, source, { after: 0, before: delivered + 1, first: count })) {
    last ||= row.seq
    after = row.seq - 1
    if (--left === 0) return { after, last }
  }
  return { after: source.log.oldest - 1, last }
}

/** The last readable envelope after a seq in the present log; 0 = none. */
export async function lastReadable(
  after: number,
  reader: Reader & LogReader,
  source: RowSource,
): Promise<number> {
  const query = { after, before: source.delivered + 1, first: 1 }
  for await (const { seq } of newestFirst(reader, source, query)) return seq
  return 0
}

async function* newestFirst(
  reader: Reader & LogReader,
  source: RowSource,
  query: EntryQuery,
): AsyncGenerator<Heading, void> {
  for await (const found of source.reads.headings(reader, { ...query, order: 'desc' })) yield* found
}
