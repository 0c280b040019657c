import type Database from 'better-sqlite3'
import { rangeError } from '../../log/error.js'
import type { Snapshot } from '../../ports/envelope-log.js'
import { dropCheckpoint } from './checkpoint-table.js'

/** Rows removed in one transaction: few, since appends wait for it. */
const SLICE_ROWS = 200

/** The snapshot that replaces the pruned rows of a space. */
export function readSnapshot(db: Database.Database, space: number): Snapshot | undefined {
  return db
    .prepare<[number], Snapshot>('SELECT through, hash, snapshot AS bytes FROM pruned WHERE space = ?')
    .get(space)
}

/**
 * Prunes the logs of a file. Pruned rows are invisible at once; they are removed slice by slice afterwards, or after the next
 * start, so that callers do not wait.
 */
export class Pruning {
  readonly #db: Database.Database
  readonly #keep: Database.Statement<[snapshot: Uint8Array, space: number, through: number], Uint8Array>
  readonly #remove: Database.Statement<[space: number, through: number]>
  #isDone = false

  constructor(db: Database.Database) {
    this.#db = db
    this.#keep = db
      .prepare<[Uint8Array, number, number], Uint8Array>(
        `INSERT INTO pruned (space, through, hash, snapshot, at)
          SELECT space, seq, hash, ?, strftime('%Y-%m-%dT%H:%M:%fZ') FROM envelopes WHERE space = ? AND seq = ?
          ON CONFLICT (space) DO UPDATE SET
            through = excluded.through, hash = excluded.hash, snapshot = excluded.snapshot, at = excluded.at
          RETURNING hash`,
      )
      .pluck()
    this.#remove = db.prepare(
      `DELETE FROM envelopes WHERE rowid IN
        (SELECT rowid FROM envelopes WHERE space = ? AND seq <= ? ORDER BY seq LIMIT ${SLICE_ROWS})`,
    )
  }

  /** Whether no pruned rows remain to be removed. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Replaces the rows up to `through` with the snapshot. Returns the hash of the row `through`. */
  prune(space: number, through: number, snapshot: Uint8Array, head: number): Uint8Array {
    const oldest = (readSnapshot(this.#db, space)?.through ?? 0) + 1
    const isInside = Number.isInteger(through) && through >= oldest && through < head
    if (!isInside) throw rangeError(through, oldest, head)
    const hash = this.#db
      .transaction(() => {
        dropCheckpoint(this.#db, space, through)
        return this.#keep.get(snapshot, space, through)
      })
      .immediate()
    if (hash === undefined) throw new Error(`row ${through} of space ${space} is missing`)
    this.#isDone = false
    return hash
  }

  /** Removes one slice of pruned rows. */
  removeSome(): void {
    const pruned = this.#db
      .prepare<[], { space: number; through: number }>(
        `SELECT space, through FROM pruned WHERE EXISTS
          (SELECT 1 FROM envelopes WHERE envelopes.space = pruned.space AND seq <= through) LIMIT 1`,
      )
      .get()
    this.#isDone = pruned === undefined
    if (pruned) this.#remove.run(pruned.space, pruned.through)
  }
}
