import { closeSync, openSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditStep } from '@meup/agent-sdk/http'
import { getUlidSeq } from '@meup/folds'
import type { Erasure } from '@meup/protocol'
import type Database from 'better-sqlite3'
import { ReasoningLog, type StepRow } from './reasoning-log.js'
import { migrate } from './schema.js'

/** Numbers of turns and steps added to the file. */
export interface Added {
  readonly turns: number
  readonly steps: number
}

type TurnRow = Omit<AuditStep, keyof StepRow> & { readonly id: string }

/** A turn that was running when its state was last read. */
export interface RunningTurn {
  readonly id: string
  readonly thread_id: string
  /** Seq of the turn's last exported step. */
  readonly seq: number
}

/** The exported log. A file holds one log only. */
export interface ExportedLog {
  /** Epoch of the log: the audit's schema calls it a session id. */
  readonly sessionId: string
  readonly space: string
}

/** Turns per transaction, and steps of a turn in memory at once. */
const [turnsAtOnce, stepsAtOnce] = [100, 500]
/** SQLite busy timeout: how long to wait for another program that has locked the file. */
const busyMs = 30_000

/** Temporary tables that stage all pages before anything is written; dropped with the connection. */
const staging = `
  CREATE TEMP TABLE read_turns (
    id TEXT PRIMARY KEY, thread_id TEXT, turn_number INTEGER, timestamp TEXT, state TEXT, input_source TEXT
  ) WITHOUT ROWID;
  CREATE TEMP TABLE read_steps (
    id TEXT PRIMARY KEY, turn_id TEXT, step_number INTEGER, phase TEXT, content TEXT,
    linked_tool_call TEXT, linked_policy_decision TEXT, linked_approval_request TEXT, created_at TEXT
  );
  CREATE INDEX temp.read_steps_turn ON read_steps (turn_id, step_number, id);
`

/**
 * The SQLite file of an export. Steps are staged page by page, newest first as the gateway returns them, and then written turn
 * by turn, so that a crash leaves each turn whole or absent.
 */
export class AuditFile {
  readonly log: ReasoningLog
  readonly #db: Database.Database
  readonly #sessionId: string
  readonly #statements: ReturnType<typeof prepare>

  private constructor(db: Database.Database, { sessionId, space }: ExportedLog) {
    migrate(db)
    db.transaction(() => claim(db, { sessionId, space })).immediate()
    db.exec(staging)
    db.function('seq_of', { deterministic: true }, (id) => getUlidSeq(String(id)))
    this.#db = db
    this.#sessionId = sessionId
    this.#statements = prepare(db)
    this.log = new ReasoningLog(db)
  }

  /** Opens or creates the file. Throws if it holds another log, or is not an audit export. */
  static async open(path: string, of: ExportedLog): Promise<AuditFile> {
    const { loadSqlite } = await import('@meup/gateway/sqlite')
    const Sqlite = loadSqlite()
    let db: Database.Database | undefined
    try {
      // Created here with restricted permissions, because SQLite would let other users read the file.
      closeSync(openSync(path, 'a', 0o600))
      db = new Sqlite(path, { timeout: busyMs })
      return new AuditFile(db, of)
    } catch (error) {
      db?.close()
      const { message, code } = error as NodeJS.ErrnoException
      const reason = code === 'SQLITE_NOTADB' ? `${path} is not a SQLite database` : message
      throw new Error(`${reason}; name another file with --to`, { cause: error })
    }
  }

  /** Stages steps. Returns how many steps and turn states are new to the file. */
  stage(steps: readonly AuditStep[]): number {
    const { stageTurn, stageStep } = this.#statements
    return this.#db.transaction(() => {
      let changes = 0
      for (const step of steps) {
        const { changes: isNew } = stageStep.run(step)
        changes += isNew + stageTurn.run({ ...step, id: step.turn_id, isNew }).changes
      }
      return changes
    })()
  }

  /** Writes the staged steps, in transactions of whole turns. */
  async write(): Promise<Added> {
    let [turns, steps, last] = [0, 0, '']
    for (;;) {
      const some = this.#statements.stagedTurns.all(last, turnsAtOnce)
      if (some.length === 0) break
      this.#db
        .transaction(() => {
          for (const turn of some) {
            turns += this.#writeTurn(turn)
            steps += this.#writeSteps(turn.id)
          }
        })
        .immediate()
      last = some.at(-1)?.id ?? last
      await nextTurn() // Lets signals be handled between transactions.
    }
    this.#db.exec('DELETE FROM temp.read_steps; DELETE FROM temp.read_turns')
    return { turns, steps }
  }

  /** Turns that were running when their state was last read: up to `limit`, by id, from the first id after `after`. */
  runningTurns(after: string, limit: number): RunningTurn[] {
    return this.#statements.running
      .all(after, limit)
      .map(({ last, ...turn }) => ({ ...turn, seq: getUlidSeq(last) }))
  }

  /** Counts the steps about envelopes that the log has erased since the export. The file keeps them: it is append-only. */
  countErased(erasures: readonly Pick<Erasure, 'seq' | 'id'>[]): number {
    if (erasures.length === 0) return 0
    const seqs = JSON.stringify(erasures.map(({ seq }) => seq))
    const ids = JSON.stringify(erasures.map(({ id }) => id))
    return this.#statements.erased.get({ seqs, ids }) ?? 0
  }

  close(): void {
    this.#db.close()
  }

  #writeTurn(turn: TurnRow): number {
    const { insertTurn, updateTurn } = this.#statements
    const { changes } = insertTurn.run({ ...turn, session_id: this.#sessionId })
    if (changes === 0) updateTurn.run(turn)
    return changes
  }

  #writeSteps(turn: string): number {
    const { stagedSteps, numbers } = this.#statements
    const taken = new Set(numbers.all(turn))
    let highest = -1
    for (const each of taken) highest = Math.max(highest, each)
    let [count, number, id] = [0, -1, '']
    for (;;) {
      const some = stagedSteps.all({ turn, number, id, limit: stepsAtOnce })
      for (const step of some) {
        // A step that became readable after the last export gets the next free number if another step has taken its own.
        const free = taken.has(step.step_number) ? highest + 1 : step.step_number
        highest = Math.max(highest, free)
        taken.add(free)
        this.log.record({ ...step, step_number: free })
      }
      count += some.length
      if (some.length < stepsAtOnce) return count
      number = some.at(-1)?.step_number ?? number
      id = some.at(-1)?.id ?? id
    }
  }
}

/** Binds a new file to this log; throws if the file holds another one. */
function claim(db: Database.Database, { sessionId, space }: ExportedLog): void {
  const found = db
    .prepare<[], { session_id: string; space: string }>('SELECT session_id, space FROM exported_log')
    .get()
  if (found === undefined) db.prepare('INSERT INTO exported_log VALUES (?, ?)').run(sessionId, space)
  else if (found.session_id !== sessionId || found.space !== space) {
    const other = `the log ${found.session_id} of ${found.space}`
    throw new Error(`${db.name} is of ${other}, and the log of ${space} is ${sessionId}`)
  }
}

const prepare = (db: Database.Database) => ({
  stageTurn: db.prepare<[TurnRow & { isNew: number }]>(
    `INSERT INTO temp.read_turns SELECT @id, @thread_id, @turn_number, @timestamp, @state, @input_source
      WHERE @isNew OR NOT EXISTS (SELECT 1 FROM main.turns WHERE id = @id AND state = @state)
      ON CONFLICT DO UPDATE SET state = excluded.state WHERE state <> excluded.state`,
  ),
  stageStep: db.prepare<[StepRow]>(
    `INSERT INTO temp.read_steps SELECT @id, @turn_id, @step_number, @phase, @content,
        @linked_tool_call, @linked_policy_decision, @linked_approval_request, @created_at
      WHERE NOT EXISTS (SELECT 1 FROM main.reasoning_steps WHERE id = @id)
      ON CONFLICT DO NOTHING`,
  ),
  stagedTurns: db.prepare<[string, number], TurnRow>(
    'SELECT * FROM temp.read_turns WHERE id > ? ORDER BY id LIMIT ?',
  ),
  stagedSteps: db.prepare<[{ turn: string; number: number; id: string; limit: number }], StepRow>(
    `SELECT * FROM temp.read_steps WHERE turn_id = @turn AND (step_number, id) > (@number, @id)
        AND NOT EXISTS (SELECT 1 FROM main.reasoning_steps WHERE id = read_steps.id)
      ORDER BY step_number, id LIMIT @limit`,
  ),
  erased: db
    .prepare<[{ seqs: string; ids: string }], number>(
      `SELECT count(*) FROM reasoning_steps WHERE seq_of(id) IN (SELECT value FROM json_each(@seqs))
        OR linked_tool_call IN (SELECT value FROM json_each(@ids))
        OR linked_approval_request IN (SELECT value FROM json_each(@ids))`,
    )
    .pluck(),
  numbers: db.prepare<[string], number>('SELECT step_number FROM reasoning_steps WHERE turn_id = ?').pluck(),
  insertTurn: db.prepare<[TurnRow & { session_id: string }]>(
    `INSERT INTO turns SELECT @id, @session_id, @thread_id, @turn_number, @timestamp, @state, @input_source
      WHERE NOT EXISTS (SELECT 1 FROM turns WHERE id = @id)`,
  ),
  updateTurn: db.prepare<[TurnRow]>('UPDATE turns SET state = @state WHERE id = @id AND state <> @state'),
  running: db.prepare<[string, number], { id: string; thread_id: string; last: string }>(
    `SELECT id, thread_id, last FROM (
        SELECT id, thread_id, (SELECT max(id) FROM reasoning_steps WHERE turn_id = turns.id) AS last
        FROM turns WHERE state = 'running' AND id > ? ORDER BY id)
      WHERE last IS NOT NULL LIMIT ?`,
  ),
})
