import { closeCodes } from '@meup/protocol'
import type { Entry, EnvelopeLog } from '../ports/envelope-log.js'
import { type Addressed, type Audience, mayRead, type Reader } from '../space/may-read.js'
import type { Session } from '../space/session.js'
import { type Delivery, deliver } from './broadcast.js'

const page = 256
const portionBytes = 256 * 1024
const portionRows = 64

/** What the outbox needs of a space. */
export interface Source {
  readonly log: EnvelopeLog
  /** Last seq that was broadcast to the live sessions. */
  readonly delivered: number
  deliveryOf(entry: Entry): Delivery
  audienceOf(envelope: Addressed): Audience
}

/**
 * Serves a session from the log, from its position on, until it has caught up with the broadcasts, and makes it live
 * in that same instant: nothing falls between, nothing comes twice [MEUP-5.3]. Reads no faster than the peer takes.
 */
export async function backfill(session: Session, source: Source): Promise<void> {
  while (!session.closed) {
    if (session.position >= source.delivered) {
      session.live = true
      return
    }
    // The log may have more already, of which it is not decided yet who may read it.
    const before = source.delivered + 1
    const rows = await source.log.read({ after: session.position, before, limit: page })
    if (rows[0]?.seq !== session.position + 1) {
      session.close(closeCodes.tooSlow, 'what came next has been pruned meanwhile; reconnect with after=')
      return
    }
    for (const portion of portionsOf(rows)) {
      deliver(
        portion.map((row) => source.deliveryOf(row)),
        session,
      )
      await session.connection.drained()
      await turn() // Where the subscription cuts all of it there was nothing to wait for, and others have to come first.
    }
  }
}

/**
 * A page in parts that leave room in the send buffer, and between them room for others: an echo or an error must not overfill
 * it meanwhile, nor wait until all is looked at.
 */
export function* portionsOf(rows: readonly Entry[]): Generator<Entry[]> {
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

/** Whatever else has come up meanwhile comes first. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The seq after which the last `count` envelopes that this reader may see begin. */
export async function tailStart(count: number, reader: Reader, source: Source): Promise<number> {
  let [before, left] = [source.delivered + 1, count]
  while (left > 0) {
    const rows = await source.log.read({ before, limit: page, order: 'desc' })
    if (rows.length === 0) return source.log.oldest - 1
    for (const row of rows) {
      before = row.seq
      if (mayRead(reader, source.deliveryOf(row).audience) && --left === 0) break
    }
  }
  return before - 1
}
