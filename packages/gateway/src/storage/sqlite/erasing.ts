import { setTimeout as delay } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { overwriting } from './files.js'

/** Erases these rows and removes the checkpoint in one transaction. Returns whether there was anything to erase. */
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

/** Empties the write-ahead log, which may contain erased bytes of an earlier process. Retries while a backup reads the file. */
export async function untilEmptied(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt())) await delay(pauseMs)
}
