import { setTimeout as delay } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { overwriting } from './files.js'

/** Removes what is to be erased of these rows, and the checkpoint, in one transaction. Whether there was anything. */
export function eraseRows(db: Database.Database, space: number, seqs: readonly number[]): boolean {
  const erase = db.transaction(() => {
    const { changes } = db
      .prepare(
        `UPDATE envelopes SET body = x'', salt = x'', digest = x''
          WHERE space = ? AND seq IN (SELECT value FROM json_each(?)) AND salt <> x''`,
      )
      .run(space, JSON.stringify(seqs))
    if (changes > 0) db.prepare('DELETE FROM checkpoints WHERE space = ?').run(space)
    return changes > 0
  })
  return overwriting(db, () => erase.immediate())
}

const pauseMs = 100

/** Empties the write-ahead log, which may have what an earlier process erased. A backup may stand in the way for as long as it takes. */
export async function untilEmptied(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt())) await delay(pauseMs)
}
