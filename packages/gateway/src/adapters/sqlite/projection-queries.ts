import { type BatchEnd, type ReasoningStep, seqOfUlid, type TurnRecord } from '@meup/views'
import type Database from 'better-sqlite3'
import type {
  AuditStep,
  EndRange,
  StepQuery,
  StepRange,
  TrailQuery,
  TurnQuery,
} from '../../ports/projection.js'
import { HeadRows } from './chains.js'
import { findEnds } from './end-search.js'
import type { ProjectedLog } from './projected-log.js'
import { type PlacedStep, StepRows } from './step-rows.js'
import { StepSearch } from './step-search.js'
import { StoredTurns, sourceAt } from './stored-turns.js'
import { TurnRows } from './turn-rows.js'
import { TurnSearch } from './turn-search.js'

/**
 * Answers from the tables; each as of one moment. Throws a `LogError` of code `projection` where a row that belongs to the
 * answer is not what was written, or is missing.
 */
export class ProjectionQueries {
  readonly #db: Database.Database
  readonly #heads: HeadRows
  readonly #turnRows: TurnRows
  readonly #stepRows: StepRows

  constructor(db: Database.Database) {
    this.#db = db
    this.#heads = new HeadRows(db)
    this.#turnRows = new TurnRows(db)
    this.#stepRows = new StepRows(db)
  }

  ends(log: ProjectedLog, range: EndRange): BatchEnd[] {
    return findEnds(this.#db, this.#heads, log, this.#stored(), range)
  }

  turns(log: ProjectedLog, query: TurnQuery): TurnRecord[] {
    const turns = this.#stored()
    return this.#turnSearch(log)
      .turns(query)
      .map((id) => turns.whole(id))
  }

  trail(log: ProjectedLog, query: TrailQuery): TurnRecord[] {
    const turns = this.#stored()
    return this.#turnSearch(log)
      .trail(query)
      .map((id) => turns.whole(id))
  }

  steps(log: ProjectedLog, query: StepQuery): AuditStep[] {
    const turns = this.#stored()
    const found = this.#stepSearch(log).find(query)
    return this.#withSources(log, found).map((step) => ({ step, turn: turns.heading(step.turn_id) }))
  }

  stepsOf(log: ProjectedLog, turn: string, range: StepRange): ReasoningStep[] {
    return this.#withSources(log, this.#stepSearch(log).stepsOf(turn, range))
  }

  older({ epoch }: ProjectedLog, before: string): number {
    const count = this.#db.prepare<[string, string], number>(
      `SELECT count(*) FROM reasoning_steps rs CROSS JOIN turns t ON t.id = rs.turn_id
        WHERE rs.created_at < ? AND t.session_id = ?`,
    )
    return count.pluck().get(before, epoch) ?? 0
  }

  #stored(): StoredTurns {
    return new StoredTurns(this.#db, this.#turnRows)
  }

  #turnSearch(log: ProjectedLog): TurnSearch {
    return new TurnSearch(this.#db, this.#heads, this.#turnRows, log)
  }

  #stepSearch(log: ProjectedLog): StepSearch {
    return new StepSearch(this.#db, this.#heads, this.#stepRows, this.#turnSearch(log), log)
  }

  #withSources(log: ProjectedLog, found: readonly PlacedStep[]): ReasoningStep[] {
    return found.flatMap(({ step }) => {
      const source = sourceAt(this.#db, log, seqOfUlid(step.id))
      return source === undefined ? [] : [{ ...step, source }]
    })
  }
}
