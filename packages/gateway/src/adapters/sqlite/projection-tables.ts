import type { BatchEnd, ReasoningStep, TurnRecord } from '@meup/views'
import type Database from 'better-sqlite3'
import type { Changes } from '../../projection/changes.js'
import type { ProjectedLog } from './projected-log.js'
import { ReasoningLog } from './reasoning-log.js'

type Value = string | number | null

/** Writes the turns and steps of one space: all that a page of the log did in one transaction. */
export class ProjectionTables {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  readonly #steps: ReasoningLog
  readonly #prepared = new Map<string, Database.Statement<Value[]>>()

  constructor(db: Database.Database, log: ProjectedLog) {
    this.#db = db
    this.#log = log
    this.#steps = new ReasoningLog(db)
  }

  /** Stores what the log did after `after` and up to `seq`: all of it or nothing. */
  write({ turns, steps, ends }: Changes, after: number, seq: number): void {
    const store = this.#db.transaction(() => {
      for (const { value, at } of turns.values()) this.#writeTurn(value, at, after)
      for (const step of steps) this.#writeStep(step, turns.get(step.turn_id)?.value.threadId ?? '')
      let [last, number] = [0, 0]
      for (const { value, at } of ends) {
        number = value.seq === last ? number + 1 : 0
        last = value.seq
        this.#writeEnd(value, number, at)
      }
      this.#run('UPDATE projections SET seq = ? WHERE space = ?', seq, this.#log.space)
    })
    store.immediate()
  }

  /** Of its decisions only those that changed: a turn may have a thousand. */
  #writeTurn(turn: TurnRecord, at: string, after: number): void {
    const { decisions, ...rest } = turn
    const { id, state, dispatched } = rest
    const record = JSON.stringify(rest)
    const update = 'UPDATE turns SET state = ?, changed_at = max(changed_at, ?), record = ? WHERE id = ?'
    const isNew = this.#run(update, state, at, record, id) === 0
    if (isNew) {
      const { sessionId, threadId, turnNumber, startedAt, inputSource } = rest
      const fields = [id, sessionId, threadId, turnNumber, startedAt, state, inputSource, at, record]
      this.#run('INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)', ...fields)
    }
    for (const decision of decisions) {
      if (isNew || decision.changedAt > after) {
        const put =
          'INSERT INTO tool_decisions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET record = excluded.record'
        this.#run(put, id, decision.number, JSON.stringify(decision))
      }
    }
    if (dispatched === decisions.length || isNew) return
    const kept = JSON.stringify(decisions.map(({ number }) => number))
    const drop =
      'DELETE FROM tool_decisions WHERE turn_id = ? AND number NOT IN (SELECT value FROM json_each(?))'
    this.#run(drop, id, kept)
  }

  #writeStep({ source, ...step }: ReasoningStep, thread: string): void {
    this.#steps.record(step)
    const place = [this.#log.space, step.phase, step.id, thread, source.seq]
    this.#run('INSERT INTO step_places VALUES (?, ?, ?, ?, ?)', ...place)
  }

  #writeEnd({ seq, turn, narrative }: BatchEnd, number: number, at: string): void {
    const place = [this.#log.space, seq, number, turn.id, JSON.stringify(narrative), at]
    this.#run('INSERT INTO batch_ends VALUES (?, ?, ?, ?, ?, ?)', ...place)
  }

  /** Gives the number of rows that it changed. */
  #run(sql: string, ...values: Value[]): number {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare<Value[]>(sql)
    this.#prepared.set(sql, statement)
    return statement.run(...values).changes
  }
}
