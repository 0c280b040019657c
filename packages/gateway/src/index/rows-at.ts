import type { EnvelopeLog, Row } from '../ports/envelope-log.js'

/** Rows that are read at once, and bytes of their bodies. */
const portion = { limit: 256, maxBytes: 1024 * 1024 }

/**
 * The rows with these seqs, which ascend, in portions: those of them that the log still has. Each portion is read while the one
 * before it is used.
 */
export async function* rowsAt(
  log: EnvelopeLog,
  seqs: readonly number[],
  only?: 'headings',
): AsyncGenerator<readonly Row[], void> {
  const limit = only === 'headings' ? 4 * portion.limit : portion.limit
  const read = (from: number): Promise<Row[]> | undefined => {
    const asked = seqs.slice(from, from + limit)
    const [first, last] = [asked[0], asked.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const range = { after: first - 1, before: last + 1, limit, maxBytes: portion.maxBytes }
    const reading = log.read({ ...range, filter: { seqs: asked }, ...(only && { only }) })
    reading.catch(() => {}) // The caller may stop before it needs this portion.
    return reading
  }
  let from = 0
  for (let reading = read(from); reading !== undefined; ) {
    const rows = await reading
    const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
    const last = rows.at(-1)
    const isCut = last !== undefined && bytes >= portion.maxBytes
    from = isCut ? seqs.indexOf(last.seq, from) + 1 : from + limit
    reading = read(from)
    yield rows
  }
}

export async function rowAt(log: EnvelopeLog, seq: number): Promise<Row | undefined> {
  const [row] = (await rowsAt(log, [seq]).next()).value ?? []
  return row
}
