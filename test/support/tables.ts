import { createRequire } from 'node:module'
import { join } from 'node:path'
import { repositoryRoot } from './files.js'

interface Database {
  prepare(sql: string): { all(): Readonly<Record<string, unknown>>[] }
  exec(sql: string): void
  close(): void
}

const fromGateway = createRequire(join(repositoryRoot, 'packages/gateway/package.json'))

/** Opens a SQLite database. */
export function openDatabase(path: string, options: { readonly?: boolean } = {}): Database {
  const Sqlite = fromGateway('better-sqlite3') as new (path: string, options: object) => Database
  return new Sqlite(path, options)
}

export function tablesOf(path: string): Map<string, readonly Readonly<Record<string, unknown>>[]> {
  const database = openDatabase(path, { readonly: true })
  try {
    const named = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
    return new Map(named.map(({ name }) => [String(name), database.prepare(`SELECT * FROM "${name}"`).all()]))
  } finally {
    database.close()
  }
}

/** Concatenates all texts and bytes of some rows. */
export const textOfRows = (rows: readonly Readonly<Record<string, unknown>>[]): string =>
  rows
    .flatMap((row) => Object.values(row))
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)))
    .join('\n')
