import { exportLine } from '@meup/protocol'
import { beginningOf } from '../../log/chain.js'
import type { EnvelopeLog, Row } from '../../ports/envelope-log.js'
import type { Source } from './backfill.js'
import type { LogReader } from './log-reads.js'
import { mayRead, type Reader } from './may-read.js'

/**
 * The log as lines [MEUP-10.4]: what its reader may read, by the same predicate as live delivery [MEUP-8.1], and of the
 * rest no more than the chain needs. It begins behind the seq `after`, if that is kept, and ends with what was delivered last
 * when it began. Throws where the log is pruned meanwhile, and then it has no end.
 */
export async function* exportLog(
  reader: Reader & LogReader,
  source: Source,
  after = 0,
): AsyncGenerator<string, void> {
  const { log, reads, delivered: head } = source
  const { through, hash: previous } = await placeAfter(after, log)
  yield exportLine({ epoch: log.epoch, first: through + 1, previous: hex(previous) })
  let [last, hash] = [through, previous]
  for await (const row of reads.rows(reader, through, head)) {
    yield exportLine(mayRead(reader, source.deliveryOf(row).audience) ? shown(row) : withheld(row))
    ;[last, hash] = [row.seq, row.hash]
  }
  if (reader.isGone()) return
  if (last !== head) throw new Error(`seq ${last + 1} is gone from the log; export it again`)
  yield exportLine({ epoch: log.epoch, head, hash: hex(hash) })
}

/** What the first envelope of an export links to. */
async function placeAfter(after: number, log: EnvelopeLog): Promise<ReturnType<typeof beginningOf>> {
  const beginning = beginningOf(log)
  if (after <= beginning.through) return beginning
  const [row] = await log.read({ after: after - 1, before: after + 1, limit: 1 })
  // It may have been pruned in this moment.
  return row === undefined ? beginningOf(log) : { through: after, hash: row.hash }
}

const shown = ({ seq, salt, body }: Row) => ({ seq, salt: hex(salt), body: Buffer.from(body).toString() })
const withheld = ({ seq, leaf }: Row) => ({ seq, leaf: hex(leaf) })

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
