import type { EnvelopeLog, Row } from '../ports/envelope-log.js'

/** Rows that are in memory at once. */
const page = 64
/** What is done in one turn of the event loop, in bytes of bodies; each row counts as a few more. */
const perTurn = 512 * 1024
const perRow = 1024

/**
 * The rows after `after` up to `head`, one after another, however many they are: no more than a page is kept, and others
 * get their turn between. Ends early where a row is missing.
 */
export async function* walk(log: EnvelopeLog, after: number, head: number): AsyncGenerator<Row, void> {
  let [last, work] = [after, 0]
  while (last < head) {
    const rows = await log.read({ after: last, before: head + 1, limit: page })
    if (rows.length === 0) return
    for (const row of rows) {
      if (row.seq !== last + 1) return
      yield row
      last = row.seq
      work += perRow + row.body.length
      if (work < perTurn) continue
      work = 0
      await nextTurn()
    }
  }
}

/** Lets everything go first that waits for this thread. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
