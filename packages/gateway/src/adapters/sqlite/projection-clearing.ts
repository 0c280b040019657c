import type Database from 'better-sqlite3'
import type { ProjectedLog } from './projected-log.js'

/** Rows removed in one transaction: few, since appends wait for it. */
const [sliceRows, sliceTurns] = [500, 50]

/** Finds what is to go: SQL with `@space` and `@epoch`, and SQL that removes each of what it finds, in this order. */
interface Slice {
  readonly find: string
  readonly remove: readonly string[]
}

const step = 'DELETE FROM reasoning_steps WHERE id = @id'
const turn = ['DELETE FROM tool_decisions WHERE turn_id = @id', 'DELETE FROM turns WHERE id = @id']

/** One after the other. Rows may be damaged: what of one table has lost its way is found by another. */
const slices: readonly Slice[] = [
  {
    find: `SELECT space, phase, id FROM step_places WHERE space = @space LIMIT ${sliceRows}`,
    remove: [step, 'DELETE FROM step_places WHERE space = @space AND phase = @phase AND id = @id'],
  },
  {
    find: `SELECT step.id FROM turns CROSS JOIN reasoning_steps step ON step.turn_id = turns.id
      WHERE session_id = @epoch LIMIT ${sliceRows}`,
    remove: [step],
  },
  {
    find: `SELECT id FROM reasoning_steps
      WHERE NOT EXISTS (SELECT 1 FROM turns WHERE turns.id = turn_id) LIMIT ${sliceRows}`,
    remove: [step],
  },
  {
    find: `SELECT rowid AS place FROM batch_ends WHERE space = @space LIMIT ${sliceRows}`,
    remove: ['DELETE FROM batch_ends WHERE rowid = @place'],
  },
  { find: `SELECT id FROM turns WHERE session_id = @epoch LIMIT ${sliceTurns}`, remove: turn },
  {
    find: `SELECT id FROM turns
      WHERE session_id NOT IN (SELECT session_id FROM projections) LIMIT ${sliceTurns}`,
    remove: turn,
  },
  {
    find: `SELECT space, thread_id FROM projection_heads WHERE space = @space LIMIT ${sliceRows}`,
    remove: ['DELETE FROM projection_heads WHERE space = @space AND thread_id = @thread_id'],
  },
]

/** Throws everything away that was projected of one log, slice by slice. */
export class ProjectionClearing {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  /** Slice that was found last. */
  #at = 0

  constructor(db: Database.Database, log: ProjectedLog) {
    this.#db = db
    this.#log = log
  }

  /** Removes a part. Whether nothing is left. */
  some(): boolean {
    const { space, epoch } = this.#log
    for (; this.#at < slices.length; this.#at++) {
      const slice = slices[this.#at]
      const found = slice && this.#db.prepare<[object], object>(slice.find).all({ space, epoch })
      if (slice === undefined || found === undefined || found.length === 0) continue
      this.#remove(slice, found)
      return false
    }
    this.#at = 0
    return true
  }

  #remove(slice: Slice, found: readonly object[]): void {
    const statements = slice.remove.map((sql) => this.#db.prepare<[object]>(sql))
    const remove = this.#db.transaction(() => {
      for (const row of found) for (const statement of statements) statement.run(row)
    })
    remove.immediate()
  }
}
