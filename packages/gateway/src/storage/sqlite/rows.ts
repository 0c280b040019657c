import type Database from 'better-sqlite3'
import { createHeading, createRow, type Fields } from '../../log/entries.js'
import { LogError, logTexts } from '../../log/error.js'
import type { DraftEntry, Entry, Filter, Heading, Row, RowPart } from '../../ports/envelope-log.js'
import { openForReading } from './files.js'
import { asLogError } from './sqlite-error.js'

/** The rows to read, and which parts. */
export interface Range {
  readonly space: number
  /** Only rows between `after` and `before`, both exclusive. */
  readonly after: number
  readonly before: number
  readonly limit: number
  readonly maxBytes: number
  readonly order: 'asc' | 'desc'
  readonly filter: Filter
  readonly only?: RowPart
}

/** The columns of a `StoredRow`, in its order. */
export const columns =
  'seq, id, ts, "from", kind, "to", context, correlationId, body, salt, leaf, hash, digest'

/** The columns before the body. Later ones are read only if needed, because SQLite then has to skip a large body. */
const headingColumns = 'seq, id, ts, "from", kind, "to", context, correlationId'

/** Columns per needed part; others are not read. */
export const columnsOf: Readonly<Record<RowPart | 'rows', string>> = {
  rows: columns,
  headings: headingColumns,
  bodies: `${headingColumns}, body`,
  proofs: `${headingColumns}, x'' AS body, salt, leaf, hash, digest`,
}

export type StoredHeading = [
  seq: number,
  id: string,
  ts: string,
  from: string,
  kind: string,
  to: string | null,
  context: string | null,
  correlationId: string | null,
]

export type StoredRow = [
  ...StoredHeading,
  body?: Uint8Array,
  salt?: Uint8Array,
  leaf?: Uint8Array,
  hash?: Uint8Array,
  digest?: Uint8Array,
]

/** A draft as stored, before it is sealed. `to` and `correlationId` are JSON; `null` = absent. */
export interface Storable
  extends Pick<DraftEntry, 'seq' | 'id' | 'ts' | 'from' | 'kind' | 'body' | 'content'> {
  readonly to: string | null
  readonly context: string | null
  readonly correlationId: string | null
  /** The salt of an imported row; absent = a new one. */
  readonly salt?: Uint8Array
}

/** Copies field by field: spreading takes longer than hashing the row, and creates another hidden class. */
export function storable(draft: DraftEntry & { readonly salt?: Uint8Array }): Storable {
  const { seq, id, ts, from, kind, to, context = null, correlationId, body, content, salt } = draft
  const [receivers, answered] = [toJsonColumn(to), toJsonColumn(correlationId)]
  const sent = { seq, id, ts, from, kind, to: receivers, context, correlationId: answered, body, content }
  return salt === undefined ? sent : { ...sent, salt }
}

const none = new Uint8Array(0)

export function fromStored(stored: StoredRow): Row {
  const [, , , , , , , , body = none, salt = none, leaf = none, hash = none, digest = none] = stored
  return createRow(fieldsFrom(stored), body, { salt, leaf, hash, digest })
}

const headingFrom = (stored: StoredHeading): Heading => createHeading(fieldsFrom(stored))

/** The fields of a stored row, read with or without its later columns. */
export function fieldsFrom([seq, id, ts, from, kind, to, context, correlationId]:
  | StoredHeading
  | StoredRow): Fields {
  return [
    seq,
    id,
    ts,
    from,
    kind,
    fromJson<Entry['to']>(to, seq, 'to'),
    context ?? undefined,
    fromJson<Entry['correlationId']>(correlationId, seq, 'correlationId'),
  ]
}

export function toJsonColumn(value: Entry['to'] | Entry['correlationId']): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

function fromJson<Value>(json: string | null, seq: number, column: string): Value | undefined {
  try {
    if (json === null) return undefined
    // Fast path: most lists are one id without escapes.
    if (json.startsWith('"') && json.indexOf('"', 1) === json.length - 1 && !json.includes('\\'))
      return json.slice(1, -1) as Value
    return JSON.parse(json)
  } catch (cause) {
    throw new LogError('corrupt', logTexts.damagedColumn, { column, seq }, { cause })
  }
}

export type Lookup = ReturnType<typeof lookupThrough>

export function lookupIn(path: string): Lookup {
  const db = openForReading(path)
  return lookupThrough(
    () => db,
    () => db.close(),
  )
}

/**
 * Looks up rows by id, and whether a context has any rows, on the calling thread, through a borrowed connection that may be
 * reopened. Starting a read transaction costs as much as a lookup, so if there are several lookups in one turn of the event
 * loop, they share a transaction.
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
        // An open read transaction would prevent checkpoints of the write-ahead log.
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
    headingsFrom: (space: number, start: string, after: string, limit: number): Heading[] =>
      look(({ byStart }) =>
        byStart.all({ space, start, after, end: `${start}\u{10ffff}`, limit }).map(headingFrom),
      ),
    /** The rows with these seqs, in this order, up to the byte limit. */
    rows: (
      space: number,
      seqs: readonly number[],
      { maxBytes, order, only }: Pick<Range, 'maxBytes' | 'order' | 'only'>,
    ) =>
      look(({ parts }) => {
        const part = only ?? 'rows'
        const statements = parts[part]
        const isOnePiece = seqs.length > 0 && (seqs.at(-1) ?? 0) - (seqs[0] ?? 0) === seqs.length - 1
        if (!isOnePiece) return takeBytes(selectEach(statements.bySeq, space, seqs, order), maxBytes)
        const between = order === 'asc' ? statements.asc : statements.desc
        const ends = [space, seqs[0] ?? 0, seqs.at(-1) ?? 0] as const
        // `all` costs a quarter of iterating per row; only iterating can stop at the byte limit, which headings do not need.
        if (part === 'headings') return between.all(...ends).map(fromStored)
        return takeBytes(between.iterate(...ends), maxBytes)
      }),
    hasContext: (space: number, root: string) =>
      look(({ contexts }) => contexts.get({ space, root, below: `${root}/`, end: `${root}0` }) === 1),
    /** Ends the shared transaction, so that the next lookup sees later commits. */
    refresh,
    close,
  }
}

/** Takes rows until their bodies have `maxBytes` together. */
function takeBytes(found: Iterable<StoredRow>, maxBytes: number): Row[] {
  const rows: Row[] = []
  let bytes = 0
  for (const stored of found) {
    const row = fromStored(stored)
    rows.push(row)
    bytes += row.body.length
    if (bytes >= maxBytes) break
  }
  return rows
}

/** Selects the rows with these ascending seqs. */
function* selectEach(
  bySeq: RowStatements['bySeq'],
  space: number,
  seqs: readonly number[],
  order: Range['order'],
): Generator<StoredRow> {
  for (const seq of order === 'asc' ? seqs : seqs.toReversed()) {
    const stored = bySeq.get(space, seq)
    if (stored !== undefined) yield stored
  }
}

const inContext = 'SELECT 1 FROM envelopes INDEXED BY envelopes_context WHERE space = :space'
const contextSql = `SELECT EXISTS (${inContext} AND context = :root)
  OR EXISTS (${inContext} AND context > :below AND context < :end)`

type RowStatements = ReturnType<typeof rowsOf>

const rowsOf = (db: Database.Database, columns: string) => ({
  bySeq: db
    .prepare<[space: number, seq: number], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND seq = ?`,
    )
    .raw(),
  asc: between(db, columns, 'ASC'),
  desc: between(db, columns, 'DESC'),
})

const between = (db: Database.Database, columns: string, order: 'ASC' | 'DESC') =>
  db
    .prepare<[space: number, first: number, last: number], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND seq BETWEEN ? AND ? ORDER BY seq ${order}`,
    )
    .raw()

const prepare = (db: Database.Database) => ({
  db,
  begin: db.prepare('BEGIN'),
  end: db.prepare('COMMIT'),
  select: db
    .prepare<[space: number, id: string], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND id = ?`,
    )
    .raw(),
  parts: {
    rows: rowsOf(db, columnsOf.rows),
    headings: rowsOf(db, columnsOf.headings),
    bodies: rowsOf(db, columnsOf.bodies),
    proofs: rowsOf(db, columnsOf.proofs),
  },
  headings: db
    .prepare<[space: number, id: string], StoredHeading>(
      `SELECT ${headingColumns} FROM envelopes WHERE space = ? AND id = ?`,
    )
    .raw(),
  byStart: db
    .prepare<{ space: number; start: string; after: string; end: string; limit: number }, StoredHeading>(
      `SELECT ${headingColumns} FROM envelopes
        WHERE space = :space AND id >= :start AND id > :after AND id < :end ORDER BY id LIMIT :limit`,
    )
    .raw(),
  // '0' follows '/' in ASCII: the range between them contains exactly the paths below.
  contexts: db
    .prepare<{ space: number; root: string; below: string; end: string }, number>(contextSql)
    .pluck(),
})
type Prepared = ReturnType<typeof prepare>
