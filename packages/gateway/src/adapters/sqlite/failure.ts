import Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'

/** Whether the thread may go on: a refusal, or a trouble that passes by itself and left nothing behind. */
export function isPassing(error: unknown): boolean {
  return error instanceof LogError || ['SQLITE_FULL', 'SQLITE_BUSY'].includes(codeOf(error))
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
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    const advice = 'Restore it from a copy, or move it away to begin a new log.'
    return new LogError('corrupt', `The log file is damaged or is no log: ${said}. ${advice}`, {
      cause: error,
    })
  }
  const advice =
    'Check that the disk works, has room, and lets this user write; then start the gateway again.'
  return new LogError('io', `The log file could not be used: ${said}. ${advice}`, { cause: error })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
