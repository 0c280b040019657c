import type Database from 'better-sqlite3'

/** Schema version, as numbered in the design of the audit log. */
const schemaVersion = 9

/** Beginning of the error messages of the triggers that forbid changes. */
const appendOnly = 'the audit is append-only'

/** Tables that steps refer to. A file of schema version 8 has only these. */
const turnTables = `
  -- the log that the file is of: one row
  CREATE TABLE IF NOT EXISTS exported_log (
    session_id TEXT PRIMARY KEY,
    space TEXT NOT NULL
  );

  -- session_id = epoch of the log; turn_number = null for a job; timestamp = when it began
  CREATE TABLE IF NOT EXISTS turns (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    turn_number INTEGER,
    timestamp TEXT NOT NULL,
    state TEXT NOT NULL,
    input_source TEXT NOT NULL
  );
`

/** Migration to version 9: the steps. */
const stepTables = `
  CREATE TABLE IF NOT EXISTS reasoning_steps (
    id            TEXT    PRIMARY KEY,
    turn_id       TEXT    NOT NULL REFERENCES turns(id),
    step_number   INTEGER NOT NULL,
    phase         TEXT    NOT NULL,
    content       TEXT    NOT NULL,
    linked_tool_call        TEXT,
    linked_policy_decision  TEXT,
    linked_approval_request TEXT,
    created_at    TEXT    NOT NULL DEFAULT (datetime('now'))
  );
  CREATE INDEX IF NOT EXISTS idx_reasoning_turn ON reasoning_steps(turn_id);
  CREATE INDEX IF NOT EXISTS idx_reasoning_phase ON reasoning_steps(phase);
  CREATE INDEX IF NOT EXISTS idx_reasoning_created ON reasoning_steps(created_at);

  -- each time that old steps were removed: which (those created before this time), and how many there were
  CREATE TABLE IF NOT EXISTS prunings (
    before TEXT PRIMARY KEY,
    steps INTEGER NOT NULL,
    pruned_at TEXT NOT NULL
  );

  CREATE TRIGGER IF NOT EXISTS steps_refuse_update BEFORE UPDATE ON reasoning_steps
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a step cannot be changed'); END;
  CREATE TRIGGER IF NOT EXISTS steps_refuse_delete BEFORE DELETE ON reasoning_steps
    WHEN OLD.created_at >= coalesce((SELECT max(before) FROM prunings), '')
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a step cannot be deleted'); END;
  -- INSERT OR REPLACE deletes without asking the trigger above
  CREATE TRIGGER IF NOT EXISTS steps_refuse_replace BEFORE INSERT ON reasoning_steps
    WHEN EXISTS (SELECT 1 FROM reasoning_steps WHERE id = NEW.id OR rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a step cannot be replaced'); END;

  CREATE TRIGGER IF NOT EXISTS turns_refuse_update BEFORE UPDATE ON turns
    WHEN (NEW.rowid, NEW.id, NEW.session_id, NEW.thread_id, NEW.turn_number, NEW.timestamp, NEW.input_source)
      IS NOT (OLD.rowid, OLD.id, OLD.session_id, OLD.thread_id, OLD.turn_number, OLD.timestamp, OLD.input_source)
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: of a turn only the state changes'); END;
  CREATE TRIGGER IF NOT EXISTS turns_refuse_delete BEFORE DELETE ON turns
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a turn cannot be deleted'); END;
  CREATE TRIGGER IF NOT EXISTS turns_refuse_replace BEFORE INSERT ON turns
    WHEN EXISTS (SELECT 1 FROM turns WHERE id = NEW.id OR rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a turn cannot be replaced'); END;

  CREATE TRIGGER IF NOT EXISTS prunings_refuse_update BEFORE UPDATE ON prunings
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a pruning cannot be changed'); END;
  CREATE TRIGGER IF NOT EXISTS prunings_refuse_delete BEFORE DELETE ON prunings
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a pruning cannot be deleted'); END;
  CREATE TRIGGER IF NOT EXISTS log_refuse_update BEFORE UPDATE ON exported_log
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a file stays of its log'); END;
  CREATE TRIGGER IF NOT EXISTS log_refuse_delete BEFORE DELETE ON exported_log
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a file stays of its log'); END;
  CREATE TRIGGER IF NOT EXISTS log_refuse_second BEFORE INSERT ON exported_log
    WHEN EXISTS (SELECT 1 FROM exported_log)
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a file is of one log'); END;
`

/**
 * Creates the tables in an empty file, or adds the new ones to a file of the previous version. Idempotent. Throws for any other
 * file.
 */
export function migrate(db: Database.Database): void {
  const run = db.transaction(() => {
    const version = Number(db.pragma('user_version', { simple: true }))
    const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
    if (isEmpty && version === 0) db.exec(turnTables)
    else if (!isExport(db)) throw new Error(`${db.name} is a database, but no export of an audit`)
    else if (version !== schemaVersion - 1 && version !== schemaVersion)
      throw new Error(
        `${db.name} has schema version ${version}, and this version of meup writes ${schemaVersion}`,
      )
    if (version === schemaVersion) return
    db.exec(stepTables)
    db.pragma(`user_version = ${schemaVersion}`)
  })
  run.immediate()
}

function isExport(db: Database.Database): boolean {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'exported_log'")
  return table.get() !== undefined
}
