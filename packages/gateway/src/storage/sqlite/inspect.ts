import { existsSync } from 'node:fs'
import { loadSqlite } from '../../log/sqlite-driver.js'
import { openForReading } from './files.js'
import { currentVersion, knownVersion } from './schema.js'
import { asLogError, isBusy } from './sqlite-error.js'

/** The content of a log file, and whether a gateway has it open. */
export interface LogReport {
  /** Schema version of the file; 0 = empty. */
  readonly schema: number
  /** The schema version of this gateway. */
  readonly currentSchema: number
  readonly spaces: readonly LoggedSpace[]
  /** Whether a gateway has the file open. */
  readonly isLocked: boolean
}

interface LoggedSpace {
  readonly name: string
  readonly epoch: string
  /** The last seq; 0 = none. */
  readonly head: number
  /** Time of the last envelope, RFC 3339; null = the log is empty. */
  readonly newest: string | null
}

/**
 * Inspects a log without changing it, even while a gateway writes. `undefined` = no such file. Throws a `LogError`: `format`,
 * `corrupt`, `driver` or `io`.
 */
export function inspectLog(path: string): LogReport | undefined {
  if (!existsSync(path)) return undefined
  try {
    const db = openForReading(path)
    try {
      const schema = knownVersion(db)
      const spaces = schema === 0 ? [] : db.prepare<[], LoggedSpace>(select).all()
      return { schema, currentSchema: currentVersion, spaces, isLocked: isLocked(path) }
    } finally {
      db.close()
    }
  } catch (error) {
    throw asLogError(error)
  }
}

const select = `
  SELECT name, epoch, coalesce(seq, 0) AS head, ts AS newest
  FROM spaces LEFT JOIN envelopes ON space = spaces.id
    AND seq = (SELECT max(seq) FROM envelopes WHERE space = spaces.id)
  ORDER BY name`

/** Tests for an exclusive lock without waiting for it or taking one. */
function isLocked(path: string): boolean {
  if (!existsSync(`${path}.lock`)) return false
  const Sqlite = loadSqlite()
  const db = new Sqlite(`${path}.lock`, { readonly: true, timeout: 0 })
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (isBusy(error)) return true
    throw error
  } finally {
    db.close()
  }
}
