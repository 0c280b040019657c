import type Database from 'better-sqlite3'

const known = new WeakMap<Database.Database, Map<string, Database.Statement>>()

/** Of one text there is one statement of each connection: to prepare one costs more than to look up a row. Not for `iterate`. */
export function prepared<Values extends unknown[], Found>(
  db: Database.Database,
  sql: string,
): Database.Statement<Values, Found> {
  const statements = known.get(db) ?? new Map<string, Database.Statement>()
  known.set(db, statements)
  const statement = statements.get(sql) ?? db.prepare(sql)
  statements.set(sql, statement)
  return statement as Database.Statement<Values, Found>
}
