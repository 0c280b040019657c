import { type BatchEnd, type Quoted, type ReasoningStep, seqOfUlid, type TurnRecord } from '@meup/views'
import type Database from 'better-sqlite3'
import type {
  AuditStep,
  EndRange,
  StepQuery,
  StepRange,
  TrailQuery,
  TurnQuery,
} from '../../ports/projection.js'
import type { ProjectedLog } from './projected-log.js'
import type { StepRow } from './reasoning-log.js'
import { findSteps } from './step-search.js'
import { parse, StoredTurns, sourceAt } from './stored-turns.js'

interface StoredEnd {
  readonly seq: number
  readonly turn: string
  readonly narrative: string
}

const isQuoted = (found: Partial<Quoted> | null): boolean =>
  found === null || typeof found.source?.id === 'string'

/** Answers from the tables; each as of one moment. Throws a `LogError` of code `projection` where they are damaged. */
export class ProjectionQueries {
  readonly #db: Database.Database

  constructor(db: Database.Database) {
    this.#db = db
  }

  ends({ space }: ProjectedLog, { after, through, limit }: EndRange): BatchEnd[] {
    const turns = new StoredTurns(this.#db)
    return this.#db
      .prepare<number[], StoredEnd>(
        `SELECT seq, turn_id AS turn, narrative FROM batch_ends
          WHERE space = ? AND seq > ? AND seq <= ? ORDER BY seq, number LIMIT ?`,
      )
      .all(space, after, through, limit)
      .map(({ seq, turn, narrative }) => ({
        seq,
        turn: turns.reported(turn),
        narrative: parse<Quoted | null>(narrative, `the batches of turn ${turn}`, isQuoted),
      }))
  }

  turns({ epoch }: ProjectedLog, { thread, before, limit }: TurnQuery): TurnRecord[] {
    return this.#whole(
      `SELECT id FROM turns WHERE session_id = ? AND thread_id = ? AND turn_number < ?
        ORDER BY turn_number DESC LIMIT ?`,
      epoch,
      thread,
      before ?? Number.MAX_SAFE_INTEGER,
      limit,
    )
  }

  trail({ epoch }: ProjectedLog, { after = '', thread, turn, limit }: TrailQuery): TurnRecord[] {
    const narrowing = [
      thread !== undefined && 'AND thread_id = ?',
      turn !== undefined && 'AND turn_number = ?',
    ]
    const sql = `SELECT id FROM turns WHERE session_id = ? ${narrowing.filter(Boolean).join(' ')} AND id > ? ORDER BY id LIMIT ?`
    const values = [epoch, thread, turn, after, limit].filter((value) => value !== undefined)
    return this.#whole(sql, ...values)
  }

  steps(log: ProjectedLog, query: StepQuery): AuditStep[] {
    const turns = new StoredTurns(this.#db)
    const select = this.#db.prepare<[string], StepRow>('SELECT * FROM reasoning_steps WHERE id = ?')
    const rows = findSteps(this.#db, log, query).flatMap((id) => select.get(id) ?? [])
    return this.#withSources(log, rows).map((step) => ({ step, turn: turns.heading(step.turn_id) }))
  }

  stepsOf(log: ProjectedLog, turn: string, { from, limit }: StepRange): ReasoningStep[] {
    const select = this.#db.prepare<[string, number, number], StepRow>(
      'SELECT * FROM reasoning_steps WHERE turn_id = ? AND step_number >= ? ORDER BY rowid LIMIT ?',
    )
    return this.#withSources(log, select.all(turn, from, limit))
  }

  older({ epoch }: ProjectedLog, before: string): number {
    const count = this.#db.prepare<[string, string], number>(
      `SELECT count(*) FROM reasoning_steps rs CROSS JOIN turns t ON t.id = rs.turn_id
        WHERE rs.created_at < ? AND t.session_id = ?`,
    )
    return count.pluck().get(before, epoch) ?? 0
  }

  #whole(sql: string, ...values: (string | number)[]): TurnRecord[] {
    const turns = new StoredTurns(this.#db)
    const select = this.#db.prepare<(string | number)[], string>(sql).pluck()
    return select.all(...values).map((id) => turns.whole(id))
  }

  #withSources(log: ProjectedLog, rows: readonly StepRow[]): ReasoningStep[] {
    return rows.flatMap((row) => {
      const source = sourceAt(this.#db, log, seqOfUlid(row.id))
      return source === undefined ? [] : [{ ...row, source }]
    })
  }
}
