import type Database from 'better-sqlite3'
import { HeadRows, Heads } from './chains.js'
import type { ProjectedLog } from './projected-log.js'
import { TurnChains } from './turn-chains.js'
import { TurnRows } from './turn-rows.js'

/** Rows removed in one transaction: few, since appends wait for it. */
const [sliceRows, sliceTurns] = [500, 50]

interface FoundStep {
  readonly id: string
  readonly phase: string
  readonly created_at: string
}

/** What a slice has removed. */
export interface Removed {
  readonly steps: number
  /** Whether nothing is left to remove. */
  readonly isDone: boolean
}

/** Prunes turns and steps of one space, slice by slice. The triggers let go only what the projection says is to go. */
export class ProjectionRemoval {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  /** Steps made before this time have been looked at: other spaces may keep theirs for longer. */
  #from = ''

  constructor(db: Database.Database, log: ProjectedLog) {
    this.#db = db
    this.#log = log
  }

  /** `kept`: the time up to which the projection was pruned. */
  some(kept: string): Removed {
    const found = this.#db
      .prepare<object, FoundStep>(
        `SELECT rs.id, rs.phase, rs.created_at
          FROM reasoning_steps rs INDEXED BY idx_reasoning_created CROSS JOIN turns t ON t.id = rs.turn_id
          WHERE rs.created_at >= @from AND rs.created_at < @kept AND t.session_id = @epoch
          ORDER BY rs.created_at, rs.rowid LIMIT ${sliceRows}`,
      )
      .all({ epoch: this.#log.epoch, kept, from: this.#from })
    this.#from = found.at(-1)?.created_at ?? ''
    if (found.length > 0) {
      this.#removeSteps(found)
      return { steps: found.length, isDone: false }
    }
    return { steps: 0, isDone: !this.#removeEnds(kept) && !this.#removeTurns(kept) }
  }

  #removeSteps(steps: readonly FoundStep[]): void {
    const place = this.#db.prepare('DELETE FROM step_places WHERE space = ? AND phase = ? AND id = ?')
    const step = this.#db.prepare('DELETE FROM reasoning_steps WHERE id = ?')
    const remove = this.#db.transaction(() => {
      for (const { id, phase } of steps) {
        place.run(this.#log.space, phase, id)
        step.run(id)
      }
    })
    remove.immediate()
  }

  /** Whether there were any. */
  #removeEnds(kept: string): boolean {
    const few = `SELECT rowid FROM batch_ends WHERE space = ? AND created_at < ?
      ORDER BY created_at, rowid LIMIT ${sliceRows}`
    const { changes } = this.#db
      .prepare(`DELETE FROM batch_ends WHERE rowid IN (${few})`)
      .run(this.#log.space, kept)
    return changes > 0
  }

  /** Whether there were any. Those around them are linked to each other. */
  #removeTurns(kept: string): boolean {
    const ids = this.#db
      .prepare<[string, string], string>(
        `SELECT id FROM turns WHERE session_id = ? AND changed_at < ? LIMIT ${sliceTurns}`,
      )
      .pluck()
      .all(this.#log.epoch, kept)
    const decisions = this.#db.prepare('DELETE FROM tool_decisions WHERE turn_id = ?')
    const turn = this.#db.prepare('DELETE FROM turns WHERE id = ?')
    const remove = this.#db.transaction(() => {
      const heads = new Heads(new HeadRows(this.#db), this.#log.space)
      const chains = new TurnChains(this.#db, new TurnRows(this.#db), heads)
      for (const id of ids) {
        chains.unlink(id)
        decisions.run(id)
        turn.run(id)
      }
      chains.store()
      heads.store()
    })
    remove.immediate()
    return ids.length > 0
  }
}
