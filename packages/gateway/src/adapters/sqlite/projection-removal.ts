import type Database from 'better-sqlite3'
import type { ProjectedLog } from './projected-log.js'

/** Rows removed in one transaction: few, since appends wait for it. */
const [sliceRows, sliceTurns] = [500, 50]

/** What is to go: SQL that finds steps, and conditions for what belongs to turns. */
interface Which {
  readonly steps: string
  readonly ends: string
  readonly turns: string
}

/** What is older than the time up to which the projection was pruned. */
export const older: Which = {
  steps: `
    SELECT rs.id, rs.phase, rs.created_at
    FROM reasoning_steps rs INDEXED BY idx_reasoning_created CROSS JOIN turns t ON t.id = rs.turn_id
    WHERE rs.created_at >= @from AND rs.created_at < @kept AND t.session_id = @epoch
    ORDER BY rs.created_at LIMIT ${sliceRows}`,
  ends: 'space = @space AND created_at < @kept',
  turns: 'session_id = @epoch AND changed_at < @kept',
}

export const everything: Which = {
  steps: `
    SELECT rs.id, rs.phase, rs.created_at
    FROM turns t CROSS JOIN reasoning_steps rs ON rs.turn_id = t.id
    WHERE t.session_id = @epoch LIMIT ${sliceRows}`,
  ends: 'space = @space',
  turns: 'session_id = @epoch',
}

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

/** Removes turns and steps of one space, slice by slice. The triggers let go only what the projection says is to go. */
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
  some({ steps, ends, turns }: Which, kept: string): Removed {
    const { space, epoch } = this.#log
    const values = { space, epoch, kept, from: this.#from }
    const found = this.#db.prepare<object, FoundStep>(steps).all(values)
    this.#from = found.at(-1)?.created_at ?? ''
    if (found.length > 0) {
      this.#removeSteps(found)
      return { steps: found.length, isDone: false }
    }
    const fewEnds = `(SELECT rowid FROM batch_ends WHERE ${ends} LIMIT ${sliceRows})`
    const { changes } = this.#db.prepare(`DELETE FROM batch_ends WHERE rowid IN ${fewEnds}`).run(values)
    if (changes > 0) return { steps: 0, isDone: false }
    const fewTurns = this.#db.prepare<object, string>(
      `SELECT id FROM turns WHERE ${turns} LIMIT ${sliceTurns}`,
    )
    const ids = fewTurns.pluck().all(values)
    this.#removeTurns(ids)
    return { steps: 0, isDone: ids.length === 0 }
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

  #removeTurns(ids: readonly string[]): void {
    const decisions = this.#db.prepare('DELETE FROM tool_decisions WHERE turn_id = ?')
    const turn = this.#db.prepare('DELETE FROM turns WHERE id = ?')
    const remove = this.#db.transaction(() => {
      for (const id of ids) {
        decisions.run(id)
        turn.run(id)
      }
    })
    remove.immediate()
  }
}
