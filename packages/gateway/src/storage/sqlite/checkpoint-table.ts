/**
 * The table of checkpoints: saved states of spaces, not checkpoints of SQLite's write-ahead log. When to save one is decided in
 * `core/checkpoints.ts`.
 */

import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import { checkpointError } from '../../log/error.js'
import type { Checkpoint } from '../../ports/envelope-log.js'
import { overwriting } from './files.js'

/** The epoch of the log and the hash of the row to which a checkpoint belongs. */
interface Place {
  readonly epoch: string
  readonly hash: Uint8Array
}

type Stored = Checkpoint & Place & { readonly digest: Uint8Array }

/** Replaces the previous checkpoint atomically. */
export function keepCheckpoint(
  db: Database.Database,
  space: number,
  checkpoint: Checkpoint,
  head: number,
): void {
  const { through, format, bytes } = checkpoint
  const oldest = prunedThrough(db, space) + 1
  const isInside = Number.isInteger(through) && through >= oldest && through <= head
  if (!isInside) throw checkpointError(through, oldest, head)
  const place = db
    .prepare<[number, number], Place>(
      'SELECT epoch, hash FROM spaces JOIN envelopes ON space = spaces.id WHERE spaces.id = ? AND seq = ?',
    )
    .get(space, through)
  if (place === undefined) throw new Error(`row ${through} of space ${space} is missing`)
  const replace = db.prepare(
    'INSERT OR REPLACE INTO checkpoints (space, through, format, bytes, digest) VALUES (?, ?, ?, ?, ?)',
  )
  // Overwrites the previous checkpoint with zeros, because it may contain envelopes that are erased later.
  overwriting(db, () => replace.run(space, through, format, bytes, hashCheckpoint(checkpoint, place)))
}

/** The latest checkpoint, unless it only covers pruned rows. */
export function readCheckpoint(db: Database.Database, space: number): Checkpoint | 'damaged' | undefined {
  const stored = db
    .prepare<[number], Stored>(
      `SELECT checkpoints.through, format, bytes, checkpoints.digest, epoch, coalesce(envelopes.hash, x'') AS hash
        FROM checkpoints JOIN spaces ON spaces.id = checkpoints.space
          LEFT JOIN envelopes ON envelopes.space = checkpoints.space AND seq = through
        WHERE checkpoints.space = ?`,
    )
    .get(space)
  if (stored === undefined || stored.through <= prunedThrough(db, space)) return undefined
  const { through, format, bytes, digest } = stored
  return hashCheckpoint(stored, stored).equals(digest) ? { through, format, bytes } : 'damaged'
}

/** Removes a checkpoint that only covers pruned rows. */
export function dropCheckpoint(db: Database.Database, space: number, pruned: number): void {
  db.prepare('DELETE FROM checkpoints WHERE space = ? AND through <= ?').run(space, pruned)
}

const prunedThrough = (db: Database.Database, space: number): number =>
  db.prepare<[number], number>('SELECT through FROM pruned WHERE space = ?').pluck().get(space) ?? 0

function hashCheckpoint({ through, format, bytes }: Checkpoint, { epoch, hash }: Place): Buffer {
  const place = JSON.stringify([epoch, through, Buffer.from(hash).toString('hex'), format])
  return createHash('sha256').update(place).update(bytes).digest()
}
