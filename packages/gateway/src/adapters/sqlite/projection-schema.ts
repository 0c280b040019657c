/** Turns and steps of all spaces. Columns and indexes of `reasoning_steps` are those of the audit log's design. */
export const projections = `
  -- seq = up to where the log of a space has been taken; kept = what is older than this time was pruned;
  -- clearing = 1 while everything is thrown away to be made again
  CREATE TABLE IF NOT EXISTS projections (
    space INTEGER PRIMARY KEY REFERENCES spaces (id),
    session_id TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    kept TEXT NOT NULL DEFAULT '',
    clearing INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  -- id = a ULID; session_id = epoch of the log; turn_number = null for a job; record = JSON of the rest, without decisions
  CREATE TABLE IF NOT EXISTS turns (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    turn_number INTEGER,
    timestamp TEXT NOT NULL,
    state TEXT NOT NULL,
    input_source TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS idx_turns_number ON turns (session_id, thread_id, turn_number);
  CREATE INDEX IF NOT EXISTS idx_turns_thread ON turns (session_id, thread_id, id);
  CREATE INDEX IF NOT EXISTS idx_turns_session ON turns (session_id, id);
  CREATE INDEX IF NOT EXISTS idx_turns_changed ON turns (session_id, changed_at);

  CREATE TABLE IF NOT EXISTS reasoning_steps (
    id TEXT PRIMARY KEY,
    turn_id TEXT NOT NULL REFERENCES turns (id),
    step_number INTEGER NOT NULL,
    phase TEXT NOT NULL,
    content TEXT NOT NULL,
    linked_tool_call TEXT,
    linked_policy_decision TEXT,
    linked_approval_request TEXT,
    created_at TEXT NOT NULL DEFAULT (datetime('now'))
  ) STRICT;
  CREATE INDEX IF NOT EXISTS idx_reasoning_turn ON reasoning_steps (turn_id);
  CREATE INDEX IF NOT EXISTS idx_reasoning_phase ON reasoning_steps (phase);
  CREATE INDEX IF NOT EXISTS idx_reasoning_created ON reasoning_steps (created_at);

  -- where in its space each step is; seq = of the envelope that it was made of
  CREATE TABLE IF NOT EXISTS step_places (
    space INTEGER NOT NULL,
    phase TEXT NOT NULL,
    id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (space, phase, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS idx_places_thread ON step_places (space, thread_id, phase, id);
  CREATE INDEX IF NOT EXISTS idx_places_seq ON step_places (space, seq, id);

  -- number = place in its turn; record = JSON
  CREATE TABLE IF NOT EXISTS tool_decisions (
    turn_id TEXT NOT NULL REFERENCES turns (id),
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (turn_id, number)
  ) STRICT;

  -- batches of tool calls that ended with the envelope seq; number = which of them; narrative = JSON, as it was then
  CREATE TABLE IF NOT EXISTS batch_ends (
    space INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    number INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    narrative TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (space, seq, number)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS idx_ends_created ON batch_ends (space, created_at);

  -- what the fold knew after the envelope seq, as JSON in parts; is_base = 1 where the rows before it were to be pruned
  CREATE TABLE IF NOT EXISTS fold_snapshots (
    space INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    is_base INTEGER NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (space, seq)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS fold_snapshot_parts (
    space INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (space, seq, part)
  ) STRICT;

  CREATE TRIGGER IF NOT EXISTS steps_refuse_update BEFORE UPDATE ON reasoning_steps
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only: a step cannot be changed'); END;
  CREATE TRIGGER IF NOT EXISTS steps_refuse_delete BEFORE DELETE ON reasoning_steps
    WHEN NOT EXISTS (
      SELECT 1 FROM turns JOIN projections USING (session_id)
      WHERE turns.id = OLD.turn_id AND (clearing = 1 OR OLD.created_at < kept)
    )
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only: a step cannot be deleted'); END;

  CREATE TRIGGER IF NOT EXISTS turns_refuse_update
    BEFORE UPDATE OF id, session_id, thread_id, turn_number, timestamp, input_source ON turns
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only: of a turn only what becomes of it changes'); END;
  CREATE TRIGGER IF NOT EXISTS turns_refuse_delete BEFORE DELETE ON turns
    WHEN NOT EXISTS (
      SELECT 1 FROM projections
      WHERE session_id = OLD.session_id AND (clearing = 1 OR OLD.changed_at < kept)
    )
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only: a turn cannot be deleted'); END;
`
