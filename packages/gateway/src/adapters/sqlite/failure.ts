import Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'

/** Troubles that pass by themselves, and that leave nothing of the transaction behind. */
const passing = new Map([
  ['SQLITE_FULL', 'Make room on the disk, then try again.'],
  ['SQLITE_BUSY', 'Another program holds the file: stop it, then try again.'],
])
const damage = ['SQLITE_CORRUPT', 'SQLITE_NOTADB']

/** Whether the log can go on after this. */
export function isPassing(error: unknown): boolean {
  return passing.has(codeOf(error))
}

/** A repeated `(space, id)`; any other broken constraint is a fault. */
export function isRepeatedId(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE'
}

/** Whatever SQLite, the file system or a dying thread threw, as an error that says what to do. */
export function asLogError(error: unknown): LogError {
  if (error instanceof LogError) return error
  const code = codeOf(error)
  const said = `${error instanceof Error ? error.message : String(error)}${code && ` (${code})`}`
  if (damage.some((prefix) => code.startsWith(prefix))) {
    const advice = 'Restore it from a copy, or move it away to begin a new log.'
    return new LogError('corrupt', `The log file is damaged or is no log: ${said}. ${advice}`, {
      cause: error,
    })
  }
  const repair = 'Check that the disk works and that this user may write to it, then start the gateway again.'
  const advice = passing.get(code) ?? repair
  return new LogError('io', `The log file could not be used: ${said}. ${advice}`, { cause: error })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
