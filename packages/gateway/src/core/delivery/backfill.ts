import { closeCodes } from '@meup/protocol'
import type { Entry, EnvelopeLog, Heading } from '../../ports/envelope-log.js'
import { type Audience, type LoggedAddress, mayRead, type Reader } from '../may-read.js'
import { yieldNow } from '../yielding.js'
import { Batch, type Delivery } from './broadcast.js'
import type { EntryQuery, LogReader, LogReads, Slice } from './log-reads.js'
import type { Session } from './session.js'

const portionBytes = 256 * 1024
const portionRows = 64

/** What the outbox needs of a space. */
export interface Source {
  readonly log: EnvelopeLog
  /** Last seq that was broadcast to the live sessions. */
  readonly delivered: number
  readonly reads: LogReads
  createDelivery(entry: Entry): Delivery
  decideAudience(envelope: LoggedAddress): Audience
}

/** What a backfill needs of a space, beside that. */
interface BackfillSource extends Source {
  /** Another one whenever envelopes that the log has may be read by others than before. */
  readonly audienceVersion: string
}

/** Portions of a slice that several may read, with what was decided on them as of one version of who may read what. */
interface Portioned {
  readonly version: string
  readonly batches: readonly Batch[]
}

const portioned = new WeakMap<readonly Entry[], Portioned>()

/** Readers that come back at once share slices: what they get of them is put together once, too. */
function shareBatches(rows: readonly Entry[], source: BackfillSource): readonly Batch[] {
  const version = source.audienceVersion
  const known = portioned.get(rows)
  if (known?.version === version) return known.batches
  const portions = [...splitPortions(rows)]
  const batches = portions.map((portion) => new Batch(portion.map((row) => source.createDelivery(row))))
  portioned.set(rows, { version, batches })
  return batches
}

/** Whether a slice lacks bodies which the reader may read by now. */
export const isOutdated = (slice: Slice, reader: Reader, source: BackfillSource): boolean =>
  slice.version !== source.audienceVersion &&
  slice.rows.some((row) => row.body.length === 0 && mayRead(reader, source.decideAudience(row)))

/**
 * Serves a session from the log, from its position on, until it has caught up with the broadcasts, and makes it live
 * in that same instant: nothing falls between, nothing comes twice [MEUP-5.3]. Reads no faster than the peer takes.
 */
export async function backfill(session: Session, source: BackfillSource): Promise<void> {
  while (!session.isGone()) {
    const { position: after } = session
    if (after >= source.delivered) {
      session.live = true
      return
    }
    // The log may have more already, of which it is not decided yet who may read it.
    const missed = { after, before: source.delivered + 1 }
    let lacksBodies = false
    for await (const slice of source.reads.replay(session, missed)) {
      const { rows } = slice
      if (rows[0]?.seq !== session.position + 1) break
      for (let at = 0; ; at++) {
        lacksBodies = isOutdated(slice, session, source)
        // Decided on anew where that has changed while the peer was slow.
        const batch = lacksBodies ? undefined : shareBatches(rows, source)[at]
        if (batch === undefined) break
        batch.serve(session)
        await session.connection.drained()
        await yieldNow() // Where the subscription cuts all of it there was nothing to wait for, and others have to come first.
      }
      if (lacksBodies) break
    }
    if (lacksBodies || session.position > after || session.isGone()) continue
    session.close(closeCodes.tooSlow, 'what came next has been pruned meanwhile; reconnect with after=')
  }
}

/**
 * A page in parts that leave room in the send buffer, and between them room for others: an echo or an error must not overfill
 * it meanwhile, nor wait until all is looked at.
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

/** Where a replay starts, and the last envelope that the reader will get of what the log has now; 0 = none. */
export interface Span {
  readonly after: number
  readonly last: number
}

/** The last `count` envelopes that this reader may see. */
export async function tailSpan(count: number, reader: Reader & LogReader, source: Source): Promise<Span> {
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

/** The last envelope after a seq that the log has now and this reader may see; 0 = there is none. */
export async function lastReadable(
  after: number,
  reader: Reader & LogReader,
  source: Source,
): Promise<number> {
  const query = { after, before: source.delivered + 1, first: 1 }
  for await (const { seq } of newestFirst(reader, source, query)) return seq
  return 0
}

async function* newestFirst(
  reader: Reader & LogReader,
  source: Source,
  query: EntryQuery,
): AsyncGenerator<Heading, void> {
  for await (const found of source.reads.headings(reader, { ...query, order: 'desc' })) yield* found
}
