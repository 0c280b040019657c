import { LogError, logTexts } from '../../log/error.js'
import { takenId } from './tables.js'

const BUSY = 'SQLITE_BUSY'
const advices = new Map([
  ['SQLITE_FULL', 'Make room on the disk.'],
  [BUSY, 'Another program uses the file. Stop it.'],
])
const damage = ['SQLITE_CORRUPT', 'SQLITE_NOTADB']

/** Whether another program holds the file. */
export function isBusy(error: unknown): boolean {
  return getErrorCode(error) === BUSY
}

/** A duplicate `(space, id)`; any other violated constraint is a bug. */
export function isRepeatedId(error: unknown): boolean {
  return getErrorCode(error).startsWith('SQLITE_CONSTRAINT') && (error as Error).message === takenId
}

/** Converts an error of SQLite, the file system or a dying thread to one with advice. */
export function asLogError(error: unknown): LogError {
  if (error instanceof LogError) return error
  const code = getErrorCode(error)
  const reason = `${error instanceof Error ? error.message : String(error)}${code && ` (${code})`}`
  const options = { cause: error }
  if (damage.some((prefix) => code.startsWith(prefix)))
    return new LogError('corrupt', logTexts.damagedFile, { reason }, options)
  const advice = advices.get(code) ?? 'Check that the disk works and that this user may write to it.'
  return new LogError('io', logTexts.file, { reason, advice }, options)
}

function getErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
