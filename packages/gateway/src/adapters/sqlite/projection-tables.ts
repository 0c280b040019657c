import type { BatchEnd, ReasoningStep, ToolDecision, TurnRecord } from '@meup/views'
import Database from 'better-sqlite3'
import type { Changes } from '../../projection/changes.js'
import { chains, HeadRows, Heads } from './chains.js'
import { appendOnly } from './digest-schema.js'
import { endDigest, endKey } from './end-rows.js'
import type { ProjectedLog } from './projected-log.js'
import { ReasoningLog } from './reasoning-log.js'
import { damaged, type Value } from './row-digest.js'
import { stepDigest } from './step-rows.js'
import { decisionDigest } from './stored-turns.js'
import { TurnChains } from './turn-chains.js'
import { TurnRows } from './turn-rows.js'

/** What one transaction knows. */
interface Page {
  readonly heads: Heads
  readonly chains: TurnChains
  /** Seq up to where the tables had come before. */
  readonly after: number
  /** Of the turns with new steps: the step before these, then the latest that was written. */
  readonly lastSteps: Map<string, string | null>
}

/** Writes the turns and steps of one space: all that a page of the log did in one transaction. */
export class ProjectionTables {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  readonly #steps: ReasoningLog
  readonly #turns: TurnRows
  readonly #headRows: HeadRows
  /** Known from the last transaction. */
  #heads: Heads | undefined
  readonly #prepared = new Map<string, Database.Statement<Value[]>>()

  constructor(db: Database.Database, log: ProjectedLog) {
    this.#db = db
    this.#log = log
    this.#steps = new ReasoningLog(db)
    this.#turns = new TurnRows(db)
    this.#headRows = new HeadRows(db)
  }

  /**
   * Stores what the log did after `after`, and what `moveOn` stores: all of it or nothing. Throws a `LogError` of code
   * `projection` where rows are in the way that should not be there.
   */
  write(changes: Changes, after: number, moveOn: () => void): void {
    const heads = this.#heads ?? new Heads(this.#headRows, this.#log.space)
    this.#heads = undefined // What fails leaves it in the middle.
    const store = this.#db.transaction(() => {
      const page = {
        heads,
        chains: new TurnChains(this.#db, this.#turns, heads),
        after,
        lastSteps: new Map(),
      }
      this.#writeAll(changes, page)
      heads.store()
      moveOn()
    })
    try {
      store.immediate()
      this.#heads = heads
    } catch (error) {
      throw isInTheWay(error) ? damaged('turns and steps') : error
    }
  }

  /** To be called where others have changed the tables. */
  forget(): void {
    this.#heads = undefined
  }

  #writeAll({ turns, steps, ends }: Changes, page: Page): void {
    const latest = new Map<string, string>()
    for (const { turn_id, id } of steps) latest.set(turn_id, id)
    for (const { value, at } of turns.values()) this.#writeTurn(value, at, latest.get(value.id), page)
    for (const step of steps) this.#writeStep(step, turns.get(step.turn_id)?.value.threadId ?? '', page)
    let [last, number] = [0, 0]
    for (const { value, at } of ends) {
      number = value.seq === last ? number + 1 : 0
      last = value.seq
      this.#writeEnd(value, number, at, page)
    }
  }

  #writeTurn(turn: TurnRecord, at: string, lastStep: string | undefined, page: Page): void {
    const { decisions, ...rest } = turn
    const stored = this.#turns.linksOf(turn.id)
    page.lastSteps.set(turn.id, stored?.last_step ?? null)
    const row = {
      id: rest.id,
      session_id: rest.sessionId,
      thread_id: rest.threadId,
      turn_number: rest.turnNumber,
      timestamp: rest.startedAt,
      state: rest.state,
      input_source: rest.inputSource,
      changed_at: at,
      record: JSON.stringify(rest),
      decisions: decisions.length,
      last_step: lastStep ?? stored?.last_step ?? null,
    }
    if (stored === undefined) this.#turns.insert({ ...row, ...page.chains.link(row) })
    else this.#turns.update({ ...stored, ...row })
    this.#writeDecisions(turn, stored === undefined, page.after)
  }

  /** Only those that changed: a turn may have a thousand. */
  #writeDecisions({ id, decisions, dispatched }: TurnRecord, isNew: boolean, after: number): void {
    if (isNew) this.#run('DELETE FROM tool_decisions WHERE turn_id = ?', id)
    for (const decision of decisions)
      if (isNew || decision.changedAt > after) this.#writeDecision(id, decision)
    if (dispatched === decisions.length || isNew) return
    const kept = JSON.stringify(decisions.map(({ number }) => number))
    const drop =
      'DELETE FROM tool_decisions WHERE turn_id = ? AND number NOT IN (SELECT value FROM json_each(?))'
    this.#run(drop, id, kept)
  }

  #writeDecision(turn: string, decision: ToolDecision): void {
    const { number } = decision
    const record = JSON.stringify(decision)
    const put = `INSERT INTO tool_decisions VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET record = excluded.record, digest = excluded.digest`
    this.#run(put, turn, number, record, decisionDigest(turn, number, record))
  }

  #writeStep(step: ReasoningStep, thread: string, { heads, lastSteps }: Page): void {
    const { id, phase, turn_id, source } = step
    const [inSpace, inThread] = [chains.steps(phase), chains.steps(phase, thread)]
    const [{ space }, { seq }] = [this.#log, source]
    const previous = heads.get(inSpace)
    const previous_in_thread = heads.get(inThread)
    const previous_in_turn = lastSteps.get(turn_id) ?? null
    heads.set(inSpace, id)
    heads.set(inThread, id)
    lastSteps.set(turn_id, id)
    this.#steps.record(step)
    const links = { previous, previous_in_thread, previous_in_turn }
    const digest = stepDigest(step, { space, phase, id, thread_id: thread, seq, ...links })
    const put = 'INSERT INTO step_places VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
    this.#run(put, space, phase, id, thread, seq, previous, previous_in_thread, previous_in_turn, digest)
  }

  #writeEnd({ seq, turn, narrative }: BatchEnd, number: number, at: string, { heads }: Page): void {
    const row = {
      ...{ space: this.#log.space, seq, number, turn_id: turn.id },
      narrative: JSON.stringify(narrative),
      created_at: at,
      previous: heads.get(chains.ends),
    }
    heads.set(chains.ends, endKey(row))
    const put = 'INSERT INTO batch_ends VALUES (?, ?, ?, ?, ?, ?, ?, ?)'
    this.#run(put, ...Object.values(row), endDigest(row))
  }

  #run(sql: string, ...values: Value[]): void {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare<Value[]>(sql)
    this.#prepared.set(sql, statement)
    statement.run(...values)
  }
}

const inTheWay = new Set(['UNIQUE', 'PRIMARYKEY', 'FOREIGNKEY'].map((kind) => `SQLITE_CONSTRAINT_${kind}`))

const isInTheWay = (error: unknown): boolean =>
  error instanceof Database.SqliteError && (inTheWay.has(error.code) || error.message.includes(appendOnly))
