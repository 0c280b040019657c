import type Database from 'better-sqlite3'
import type { Heading, Row } from '../../ports/envelope-log.js'
import {
  bodyColumns,
  columns,
  fromStored,
  headingColumns,
  headingFrom,
  type StoredHeading,
  type StoredRow,
} from './columns.js'
import { asLogError } from './failure.js'
import { openForReading } from './files.js'

export type Lookup = ReturnType<typeof lookupThrough>

export function lookupIn(path: string): Lookup {
  const db = openForReading(path)
  return lookupThrough(
    () => db,
    () => db.close(),
  )
}

/**
 * Finds rows by id, and whether a context has any, on the calling thread, through a connection of somebody else, who may open
 * it anew. To begin a read costs as much as to look up an id, so the look-ups of one turn of the event loop, where there are
 * more than one, share one view of the file.
 */
export function lookupThrough(connection: () => Database.Database, close: () => void) {
  let known: Prepared | undefined
  const current = (): Prepared => {
    const db = connection()
    if (known?.db !== db) known = prepare(db)
    return known
  }

  let isFirst = true
  const refresh = () => {
    if (known?.db.inTransaction) known.end.run()
  }
  const endTurn = () => {
    isFirst = true
    refresh()
  }
  const look = <Found>(read: (prepared: Prepared) => Found): Found => {
    try {
      const known = current()
      if (isFirst) {
        isFirst = false
        // A view that were kept would keep the write-ahead log from being folded into the file.
        setImmediate(endTurn)
      } else if (!known.db.inTransaction) known.begin.run()
      return read(known)
    } catch (error) {
      throw asLogError(error)
    }
  }
  return {
    find: (space: number, id: string): Row | undefined =>
      look(({ select }) => {
        const stored = select.get(space, id)
        return stored && fromStored(stored)
      }),
    heading: (space: number, id: string): Heading | undefined =>
      look(({ headings }) => {
        const stored = headings.get(space, id)
        return stored && headingFrom(stored)
      }),
    /** The rows with these seqs, up to those whose bodies have so many bytes together. */
    rows: (space: number, seqs: readonly number[], maxBytes: number, only?: 'bodies') =>
      look((prepared) => {
        const rows: Row[] = []
        let bytes = 0
        for (const stored of storedAt(prepared[only ?? 'rows'], space, seqs)) {
          const row = fromStored(stored)
          rows.push(row)
          bytes += row.body.length
          if (bytes >= maxBytes) break
        }
        return rows
      }),
    hasContext: (space: number, root: string) =>
      look(({ contexts }) => contexts.get({ space, root, below: `${root}/`, end: `${root}0` }) === 1),
    /** Lets the next look-up see what has been committed since. */
    refresh,
    close,
  }
}

/** With these seqs, which ascend. Those that are close together are found at once. */
function* storedAt(
  { bySeq, between }: Prepared['rows'],
  space: number,
  seqs: readonly number[],
): Generator<StoredRow> {
  const [first = 0, last = 0] = [seqs[0], seqs.at(-1)]
  if (last - first < 2 * seqs.length) {
    const asked = new Set(seqs)
    for (const stored of between.iterate(space, first, last)) if (asked.has(stored[0])) yield stored
  } else
    for (const seq of seqs) {
      const stored = bySeq.get(space, seq)
      if (stored !== undefined) yield stored
    }
}

const inContext = 'SELECT 1 FROM envelopes INDEXED BY envelopes_context WHERE space = :space'
const contextSql = `SELECT EXISTS (${inContext} AND context = :root)
  OR EXISTS (${inContext} AND context > :below AND context < :end)`

const rowsOf = (db: Database.Database, columns: string) => ({
  bySeq: db
    .prepare<[space: number, seq: number], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND seq = ?`,
    )
    .raw(),
  between: db
    .prepare<[space: number, first: number, last: number], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND seq BETWEEN ? AND ? ORDER BY seq`,
    )
    .raw(),
})

const prepare = (db: Database.Database) => ({
  db,
  begin: db.prepare('BEGIN'),
  end: db.prepare('COMMIT'),
  select: db
    .prepare<[space: number, id: string], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND id = ?`,
    )
    .raw(),
  rows: rowsOf(db, columns),
  bodies: rowsOf(db, bodyColumns),
  headings: db
    .prepare<[space: number, id: string], StoredHeading>(
      `SELECT ${headingColumns} FROM envelopes WHERE space = ? AND id = ?`,
    )
    .raw(),
  // '0' is what follows '/': between the two is every path below, and nothing else.
  contexts: db
    .prepare<{ space: number; root: string; below: string; end: string }, number>(contextSql)
    .pluck(),
})
type Prepared = ReturnType<typeof prepare>
