import type Database from 'better-sqlite3'
import type { Row } from '../../ports/envelope-log.js'
import type { Range } from './calls.js'
import { fieldsFrom, fromStored, type StoredRow } from './columns.js'
import { type Packed, packHeadings, packPage } from './pack.js'
import { selectOf } from './select.js'

/** Reads pages of the log through this connection. */
export function pagesOf(db: Database.Database): (range: Range) => Packed {
  const prepared = new Map<string, Database.Statement<(string | number)[], StoredRow>>()
  return (range) => {
    const { sql, values } = selectOf(range)
    const statement = prepared.get(sql) ?? db.prepare<(string | number)[], StoredRow>(sql).raw()
    prepared.set(sql, statement)
    if (range.only === 'headings') {
      return packHeadings(
        statement
          .all(...values)
          .map(([seq, id, ts, from, kind, to, context, correlationId]) =>
            fieldsFrom([seq, id, ts, from, kind, to, context, correlationId]),
          ),
      )
    }
    const rows: Row[] = []
    let bytes = 0
    for (const stored of statement.iterate(...values)) {
      const row = fromStored(stored)
      rows.push(row)
      bytes += row.body.length
      if (bytes >= range.maxBytes) break
    }
    return packPage(rows)
  }
}
