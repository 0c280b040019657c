import {
  createUlids,
  inertMarkdown,
  type ParsedStep,
  parseThinking,
  phaseLabels,
  printable,
  type ReasoningStep,
} from '@meup/folds'
import type { Phase } from '@meup/protocol'
import type Database from 'better-sqlite3'

/** A row of `reasoning_steps`. */
export type StepRow = Omit<ReasoningStep, 'source'>

/** A step to record. Missing ids and times are generated; missing ids of a call, decision or proposal are null. */
type NewStep = ParsedStep & Partial<Omit<StepRow, keyof ParsedStep>>

/** A step with columns of its turn. */
export interface AuditEntry extends StepRow {
  /** Start of the turn: RFC 3339 UTC. */
  readonly timestamp: string
  readonly state: string
  readonly input_source: string
}

/** Conditions of a query; all that are set must match. */
export interface AuditFilter {
  /** Epoch of a log: the audit's schema calls it a session id. */
  readonly sessionId?: string
  /** RFC 3339 UTC, compared with `created_at`; `since` is inclusive, `until` is exclusive. */
  readonly since?: string
  readonly until?: string
  readonly phase?: Phase
  /** Id of a turn or job. */
  readonly turnId?: string
}

const insert = `
  INSERT INTO reasoning_steps (id, turn_id, step_number, phase, content,
    linked_tool_call, linked_policy_decision, linked_approval_request, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

const dayMs = 86_400_000
const defaultKeepDays = 30

/** The audit in a SQLite file, as designed in the audit log's specification: append-only, pruned by age. */
export class ReasoningLog {
  readonly #db: Database.Database
  readonly #insert: Database.Statement<(string | number | null)[]>
  /** Generates ids for steps without one. */
  readonly #ulid = createUlids('')
  #last = { milliseconds: 0, index: -1 }

  constructor(db: Database.Database) {
    this.#db = db
    this.#insert = db.prepare(insert)
  }

  /** Adds a step. Throws if the turn is unknown or the id is taken. */
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

  /** Splits thinking into steps, numbered after the turn's existing steps. Does not record them. */
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

  /** All steps of one log (the audit's schema calls a log a session), in turn order. */
  getAuditTrail(sessionId: string): AuditEntry[] {
    return this.find({ sessionId })
  }

  /** Steps of all turns that match, in turn order. */
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

  /** One turn as Markdown. Throws if the turn is unknown. */
  exportMarkdown(turnId: string): string {
    const startedAt = this.#db
      .prepare<[string], string>('SELECT timestamp FROM turns WHERE id = ?')
      .pluck()
      .get(turnId)
    if (startedAt === undefined) throw new Error(`there is no turn ${turnId}`)
    return turnMarkdown(turnId, startedAt, this.find({ turnId }))
  }

  /** Removes steps older than `keepDays`, records the pruning, and returns the number of steps. */
  prune(keepDays = defaultKeepDays, now = Date.now()): number {
    const before = new Date(now - keepDays * dayMs).toISOString()
    const run = this.#db.transaction(() => {
      const { changes } = this.#db
        .prepare(
          `INSERT INTO prunings (before, steps, pruned_at)
            SELECT @before, count(*), @at FROM reasoning_steps WHERE created_at < @before
            HAVING count(*) > 0 ON CONFLICT DO NOTHING`,
        )
        .run({ before, at: new Date(now).toISOString() })
      if (changes === 0) return 0
      return this.#db.prepare('DELETE FROM reasoning_steps WHERE created_at < ?').run(before).changes
    })
    return run.immediate()
  }

  /** Steps before this time have been pruned; `undefined` if none were. */
  get prunedBefore(): string | undefined {
    return this.#db.prepare<[], string | null>('SELECT max(before) FROM prunings').pluck().get() ?? undefined
  }

  #nextId(): string {
    const { milliseconds, index } = this.#last
    const now = Date.now()
    this.#last = now > milliseconds ? { milliseconds: now, index: 0 } : { milliseconds, index: index + 1 }
    return this.#ulid(this.#last.milliseconds, 0, this.#last.index)
  }
}

/** The fields of a step that are printed. */
type FormattedStep = Omit<ReasoningStep, 'source'>

const emptyTurn = 'No reasoning steps were recorded in this turn.'

/** One turn in the format of the design of the audit log; ends in a line break. */
function turnMarkdown(id: string, startedAt: string, steps: readonly FormattedStep[]): string {
  const paragraphs = steps.length === 0 ? [emptyTurn] : steps.map(formatStep)
  return `${[`## Turn ${id} (${startedAt})`, ...paragraphs].join('\n\n')}\n`
}

const formatStep = (step: FormattedStep): string =>
  `${phaseLabels[step.phase]} ${quoted(step.content)}${formatLinks(step)}`

/** Formats a step's links to its tool call, policy decision and approval request. */
export function formatLinks(step: Pick<StepRow, `linked_${string}` & keyof StepRow>): string {
  const links = [
    ['tool_call', step.linked_tool_call],
    ['policy', step.linked_policy_decision],
    ['approval', step.linked_approval_request],
  ]
  return links.map(([label, id]) => (id === null ? '' : ` (${label}: ${id})`)).join('')
}

/** Escapes lines that look like a turn or step heading, and links or images that a viewer would fetch. */
const quoted = (content: string): string =>
  inertMarkdown(printable(content))
    .trim()
    .split('\n')
    .map((line, index) => (index > 0 && looksLikeOurs(line) ? `\\${line.trimStart()}` : line))
    .join('\n')

const labels = Object.values(phaseLabels)
const looksLikeOurs = (line: string): boolean =>
  ['#', ...labels].some((start) => line.trimStart().startsWith(start))
