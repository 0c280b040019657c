import type { EnvelopeLog, Row } from '../ports/envelope-log.js'
import { turn } from '../space/log-reads.js'

/** Rows that are read at once, and bytes of their bodies. */
const portion = { limit: 256, maxBytes: 1024 * 1024 }

/** Rows after which other work comes first. */
const rowsPerTurn = 16

/** The rows with these seqs, which ascend: those of them that the log still has. */
export async function* rowsAt(log: EnvelopeLog, seqs: readonly number[]): AsyncGenerator<Row, void> {
  for (let from = 0; from < seqs.length; ) {
    const asked = seqs.slice(from, from + portion.limit)
    const range = { after: (asked[0] ?? 1) - 1, before: (asked.at(-1) ?? 0) + 1 }
    const rows = await log.read({ ...range, ...portion, filter: { seqs: asked } })
    for (const [place, row] of rows.entries()) {
      yield row
      if (place % rowsPerTurn === rowsPerTurn - 1) await turn()
    }
    const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
    const last = rows.at(-1)
    const isCut = last !== undefined && bytes >= portion.maxBytes
    from = isCut ? seqs.indexOf(last.seq, from) + 1 : from + asked.length
  }
}
