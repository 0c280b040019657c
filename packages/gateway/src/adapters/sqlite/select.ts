import { contextParent, Kind } from '@meup/protocol'
import type { Filter } from '../../ports/envelope-log.js'
import type { Range } from './calls.js'
import { columns } from './columns.js'

type Value = string | number

/** A condition of SQL, and the values of its placeholders. */
type Condition = readonly [sql: string, ...values: Value[]]

/**
 * The rows of a range as SQL. A list is bound as one JSON value, so that there are few different statements and each is
 * prepared once. The rows are found by the primary key; the rest of the conditions look at each of them.
 */
export function selectOf({ space, after, before, limit, order, filter }: Range): {
  readonly sql: string
  readonly values: readonly Value[]
} {
  const inRange: Condition = ['space = ? AND seq > ? AND seq < ?', space, after, before]
  const conditions = [inRange, ...conditionsOf(filter)]
  const where = conditions.map(([sql]) => sql).join(' AND ')
  return {
    sql: `SELECT ${columns} FROM envelopes WHERE ${where} ORDER BY seq ${order} LIMIT ?`,
    values: [...conditions.flatMap(([, ...values]) => values), limit],
  }
}

function conditionsOf({ kinds, from, context, correlationId }: Filter): Condition[] {
  const conditions: Condition[] = []
  if (kinds) conditions.push(['kind IN (SELECT value FROM json_each(?))', JSON.stringify(kinds)])
  if (from) conditions.push(['"from" IN (SELECT value FROM json_each(?))', JSON.stringify(from)])
  if (context !== undefined) {
    // '0' is what follows '/': between the two is every path below, and nothing else. The start has the path above.
    const isInside = 'context = ? OR (context > ? AND context < ?)'
    const hasOpened = `id = ? AND kind = '${Kind.reasoningStart}' AND coalesce(context, '') = ?`
    const parent = contextParent(context) ?? ''
    const id = context.slice(parent === '' ? 0 : parent.length + 1)
    const values = [context, `${context}/`, `${context}0`, id, parent]
    conditions.push([`(${isInside} OR (${hasOpened}))`, ...values])
  }
  if (correlationId !== undefined) {
    const answers = 'EXISTS (SELECT 1 FROM json_each(correlationId) WHERE value = ?)'
    conditions.push([answers, correlationId])
  }
  return conditions
}
