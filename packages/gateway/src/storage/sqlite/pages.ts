import { contextParent } from '@meup/protocol/context'
import { Kind } from '@meup/protocol/kinds'
import type Database from 'better-sqlite3'
import type { Filter, Row } from '../../ports/envelope-log.js'
import { type Packed, packHeadings, packPage } from './pack.js'
import { columnsOf, fieldsFrom, fromStored, type Range, type StoredRow } from './rows.js'

/** Reads pages of the log through this connection. */
export function createPageReader(db: Database.Database): (range: Range) => Packed {
  const prepared = new Map<string, Database.Statement<(string | number)[], StoredRow>>()
  return (range) => {
    const { sql, values } = buildSelect(range)
    const statement = prepared.get(sql) ?? db.prepare<(string | number)[], StoredRow>(sql).raw()
    prepared.set(sql, statement)
    if (range.only === 'headings') {
      return packHeadings(statement.all(...values).map(fieldsFrom))
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

type Value = string | number

/** A condition of SQL, and the values of its placeholders. */
type Condition = readonly [sql: string, ...values: Value[]]

/**
 * The SQL of a range. A list is bound as one JSON value, so that there are few distinct statements, each prepared once.
 * Contexts and decisions are found by their indexes, all other rows by the primary key; the remaining conditions are checked
 * per row.
 */
export function buildSelect({ space, after, before, limit, order, filter, only }: Range): {
  readonly sql: string
  readonly values: readonly Value[]
} {
  const inRange: Condition = ['space = ? AND seq > ? AND seq < ?', space, after, before]
  const conditions = [inRange, ...buildRangeConditions(filter, inRange), ...buildFilterConditions(filter)]
  const where = conditions.map(([sql]) => sql).join(' AND ')
  const byDecisions = areDecisions(filter) && filter.context === undefined
  const rows = byDecisions ? 'envelopes INDEXED BY envelopes_decisions' : 'envelopes'
  return {
    sql: `SELECT ${columnsOf[only ?? 'rows']} FROM ${rows} WHERE ${where} ORDER BY seq ${order} LIMIT ?`,
    values: [...conditions.flatMap(([, ...values]) => values), limit],
  }
}

/**
 * Ranges of the envelopes of a context: those in it, those below it, and the start that opened it, whose path is that of the
 * parent.
 */
function buildRangeConditions({ context }: Filter, [isInRange, ...range]: Condition): Condition[] {
  if (context === undefined) return []
  const parent = contextParent(context) ?? ''
  const id = context.slice(parent === '' ? 0 : parent.length + 1)
  // '0' follows '/' in ASCII: the range between them contains exactly the paths below.
  const byContext = 'envelopes INDEXED BY envelopes_context'
  const places: Condition[] = [
    [`${byContext} WHERE context = ?`, context],
    [`${byContext} WHERE context > ? AND context < ?`, `${context}/`, `${context}0`],
    [`envelopes WHERE id = ? AND kind = '${Kind.reasoningStart}' AND coalesce(context, '') = ?`, id, parent],
  ]
  const selects = places.map(([sql]) => `SELECT seq FROM ${sql} AND ${isInRange}`)
  const values = places.flatMap(([, ...own]) => [...own, ...range])
  return [[`seq IN (${selects.join(' UNION ')})`, ...values]]
}

const areDecisions = ({ kinds }: Filter): boolean => kinds?.length === 1 && kinds[0] === Kind.systemDecision

function buildFilterConditions(filter: Filter): Condition[] {
  const { seqs, kinds, from, correlationId } = filter
  const conditions: Condition[] = []
  if (seqs) conditions.push(['seq IN (SELECT value FROM json_each(?))', JSON.stringify(seqs)])
  if (areDecisions(filter)) conditions.push([`kind = '${Kind.systemDecision}'`])
  else if (kinds) conditions.push(['kind IN (SELECT value FROM json_each(?))', JSON.stringify(kinds)])
  if (from) conditions.push(['"from" IN (SELECT value FROM json_each(?))', JSON.stringify(from)])
  if (correlationId !== undefined) {
    const answers = 'EXISTS (SELECT 1 FROM json_each(correlationId) WHERE value = ?)'
    conditions.push([answers, correlationId])
  }
  return conditions
}
