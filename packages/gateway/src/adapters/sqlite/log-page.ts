import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import type { ProjectedLog } from './projected-log.js'
import { prepared } from './statements.js'

/** Up to where a log has been pruned; 0 = it is whole. */
export const prunedThrough = (db: Database.Database, { space }: ProjectedLog): number =>
  prepared<[number], number>(db, 'SELECT through FROM pruned WHERE space = ?').pluck().get(space) ?? 0

/** What is taken at once: little enough to be written without keeping appends waiting. */
const [pageRows, pageBytes] = [256, 1024 * 1024]

type StoredBody = readonly [seq: number, body: Uint8Array]

export interface LoggedBody {
  readonly seq: number
  readonly body: Uint8Array
}

/** The next rows of a log after `after`, up to `through`. Throws where one is missing. */
export function pageOf(
  db: Database.Database,
  { space }: ProjectedLog,
  after: number,
  through: number,
): LoggedBody[] {
  const select = db
    .prepare<[number, number, number], StoredBody>(
      `SELECT seq, body FROM envelopes WHERE space = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${pageRows}`,
    )
    .raw()
  const rows: LoggedBody[] = []
  let bytes = 0
  for (const [seq, body] of select.iterate(space, after, through)) {
    if (seq !== after + rows.length + 1) break
    rows.push({ seq, body })
    bytes += body.length
    if (bytes >= pageBytes) break
  }
  if (rows.length === 0)
    throw new LogError('corrupt', `Row ${after + 1} of the log is missing. Verify the log.`)
  return rows
}
