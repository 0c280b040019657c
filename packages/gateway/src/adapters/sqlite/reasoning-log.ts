import type { Phase } from '@meup/protocol'
import { exportMarkdown, type ParsedStep, parseThinking, type ReasoningStep, Ulids } from '@meup/views'
import type Database from 'better-sqlite3'
import type { Value } from './row-digest.js'

/** A row of `reasoning_steps`. */
export type StepRow = Omit<ReasoningStep, 'source'>

/** A step on its way into the log; what it lacks is filled in. */
export type NewStep = ParsedStep & Partial<Omit<StepRow, keyof ParsedStep>>

/** A step with what the audit tells of its turn. */
export interface AuditEntry extends StepRow {
  /** When the turn began: RFC 3339 UTC. */
  readonly timestamp: string
  readonly state: string
  readonly input_source: string
}

/** Each part that is there narrows it further. */
export interface AuditFilter {
  /** Epoch of a log. */
  readonly sessionId?: string
  /** RFC 3339 UTC, by the time of the log; `since` is included, `until` is not. */
  readonly since?: string
  readonly until?: string
  readonly phase?: Phase
  /** Id of a turn or job. */
  readonly turnId?: string
}

const insert = `
  INSERT OR FAIL INTO reasoning_steps (id, turn_id, step_number, phase, content,
    linked_tool_call, linked_policy_decision, linked_approval_request, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

/**
 * The steps of the audit in their table: rows are added, and never changed. Writes in the transaction of its caller. What it
 * reads is what the table has; a projection finds out whether that is what was written.
 */
export class ReasoningLog {
  readonly #db: Database.Database
  readonly #insert: Database.Statement<Value[]>
  /** Of steps that were made of no envelope. */
  readonly #ids = new Ulids('')

  constructor(db: Database.Database) {
    this.#db = db
    this.#insert = db.prepare(insert)
  }

  /** Throws where the turn is not known, or the id is taken. */
  record(step: NewStep): void {
    this.#insert.run(
      step.id ?? this.#nextId(),
      step.turn_id,
      step.step_number,
      step.phase,
      step.content,
      step.linked_tool_call ?? null,
      step.linked_policy_decision ?? null,
      step.linked_approval_request ?? null,
      step.created_at ?? new Date().toISOString(),
    )
  }

  /** What an agent thought, as steps that go on from those of the turn. They are not recorded yet. */
  parseThinking(turnId: string, rawThinking: string): ParsedStep[] {
    const next = this.#db
      .prepare<[string], number>(
        'SELECT coalesce(max(step_number) + 1, 0) FROM reasoning_steps WHERE turn_id = ?',
      )
      .pluck()
      .get(turnId)
    return parseThinking(turnId, rawThinking).map((step) => ({
      ...step,
      step_number: step.step_number + (next ?? 0),
    }))
  }

  /** Every step of a session, in the order of its turns. */
  getAuditTrail(sessionId: string): AuditEntry[] {
    return this.find({ sessionId })
  }

  /** Steps across turns and sessions, in the order of their turns. */
  find({ sessionId, since, until, phase, turnId }: AuditFilter): AuditEntry[] {
    const conditions: (readonly [sql: string, value: string | undefined])[] = [
      ['t.session_id = ?', sessionId],
      ['rs.created_at >= ?', since],
      ['rs.created_at < ?', until],
      ['rs.phase = ?', phase],
      ['rs.turn_id = ?', turnId],
    ]
    const asked = conditions.filter(([, value]) => value !== undefined)
    const where = asked.map(([sql]) => sql).join(' AND ') || 'true'
    return this.#db
      .prepare<unknown[], AuditEntry>(
        `SELECT rs.*, t.timestamp, t.state, t.input_source
          FROM reasoning_steps rs JOIN turns t ON rs.turn_id = t.id
          WHERE ${where} ORDER BY t.timestamp ASC, rs.step_number ASC, rs.id ASC`,
      )
      .all(...asked.map(([, value]) => value))
  }

  /** One turn for people. Throws where it is not known. */
  exportMarkdown(turnId: string): string {
    const turn = this.#db
      .prepare<[string], { id: string; startedAt: string }>(
        'SELECT id, timestamp AS startedAt FROM turns WHERE id = ?',
      )
      .get(turnId)
    if (turn === undefined) throw new Error(`there is no turn ${turnId}`)
    return exportMarkdown(turn, this.find({ turnId }))
  }

  #nextId(): string {
    const now = Date.now()
    if (now > this.#ids.milliseconds) this.#ids.begin(now, 0)
    return this.#ids.next()
  }
}
