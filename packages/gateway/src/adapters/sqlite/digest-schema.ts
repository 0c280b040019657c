/** What the triggers of the tables of turns and steps say. */
export const appendOnly = 'the audit is append-only'

/** What a trigger says of an envelope whose id, or whose place, another one has. */
export const takenId = 'the log is append-only: an envelope cannot be replaced'

/**
 * Turns and steps whose rows show what was changed, deleted or added. They are made again from the log, and go on from
 * the same snapshots as before.
 */
export const digests = `
  DROP TABLE IF EXISTS projection_heads;
  DROP TABLE IF EXISTS batch_ends;
  DROP TABLE IF EXISTS tool_decisions;
  DROP TABLE IF EXISTS step_places;
  DROP TABLE IF EXISTS reasoning_steps;
  DROP TABLE IF EXISTS turns;

  -- as before, and digest = of the other columns; '' = this was migrated, and not opened since
  CREATE TABLE new_projections (
    space INTEGER PRIMARY KEY REFERENCES spaces (id),
    session_id TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    kept TEXT NOT NULL DEFAULT '',
    clearing INTEGER NOT NULL DEFAULT 0,
    digest TEXT NOT NULL DEFAULT ''
  ) STRICT;
  INSERT INTO new_projections (space, session_id, seq, kept)
    SELECT space, session_id, coalesce(
      (SELECT coalesce(min(base.seq), pruned.through) FROM pruned LEFT JOIN fold_snapshots base
        ON base.space = pruned.space AND base.is_base = 1 AND base.seq >= pruned.through
        WHERE pruned.space = projections.space GROUP BY pruned.space), 0), kept
    FROM projections;
  DROP TABLE projections;
  ALTER TABLE new_projections RENAME TO projections;
  DELETE FROM fold_snapshots WHERE is_base = 0;

  -- decisions = how many of tool_decisions are its own; last_step = id of its latest step; previous, previous_in_thread =
  -- ids of the turn or job before it in the space, and in its thread; previous_number = number of the turn before it in
  -- its thread, as far as these are kept; digest = of all other columns
  CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    turn_number INTEGER,
    timestamp TEXT NOT NULL,
    state TEXT NOT NULL,
    input_source TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    record TEXT NOT NULL,
    decisions INTEGER NOT NULL,
    last_step TEXT,
    previous TEXT,
    previous_in_thread TEXT,
    previous_number INTEGER,
    digest TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX idx_turns_number ON turns (session_id, thread_id, turn_number);
  CREATE INDEX idx_turns_thread ON turns (session_id, thread_id, id);
  CREATE INDEX idx_turns_session ON turns (session_id, id);
  CREATE INDEX idx_turns_changed ON turns (session_id, changed_at);

  CREATE TABLE reasoning_steps (
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
  CREATE INDEX idx_reasoning_turn ON reasoning_steps (turn_id);
  CREATE INDEX idx_reasoning_phase ON reasoning_steps (phase);
  CREATE INDEX idx_reasoning_created ON reasoning_steps (created_at);

  -- where in its space each step is; previous… = ids of the step before it: of this phase in the space, of this phase in
  -- its thread, in its turn; digest = of these columns and those of its step
  CREATE TABLE step_places (
    space INTEGER NOT NULL,
    phase TEXT NOT NULL,
    id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    previous TEXT,
    previous_in_thread TEXT,
    previous_in_turn TEXT,
    digest TEXT NOT NULL,
    PRIMARY KEY (space, phase, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idx_places_thread ON step_places (space, thread_id, phase, id);
  CREATE INDEX idx_places_seq ON step_places (space, seq, id);

  CREATE TABLE tool_decisions (
    turn_id TEXT NOT NULL REFERENCES turns (id),
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (turn_id, number)
  ) STRICT;

  -- previous = created_at, seq and number of the one before it in the space
  CREATE TABLE batch_ends (
    space INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    number INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    narrative TEXT NOT NULL,
    created_at TEXT NOT NULL,
    previous TEXT,
    digest TEXT NOT NULL,
    PRIMARY KEY (space, seq, number)
  ) STRICT;
  CREATE INDEX idx_ends_created ON batch_ends (space, created_at);

  -- where chains of rows end: newest = JSON of what the next rows will have as their previous, in the space or in a thread
  CREATE TABLE projection_heads (
    space INTEGER NOT NULL,
    thread_id TEXT NOT NULL,
    newest TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (space, thread_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TRIGGER steps_refuse_update BEFORE UPDATE ON reasoning_steps
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a step cannot be changed'); END;
  -- what is thrown away to be made again may go, what is older than is kept, and what belongs to no turn
  CREATE TRIGGER steps_refuse_delete BEFORE DELETE ON reasoning_steps
    WHEN EXISTS (SELECT 1 FROM turns WHERE id = OLD.turn_id)
      AND NOT EXISTS (
        SELECT 1 FROM turns JOIN projections USING (session_id)
        WHERE turns.id = OLD.turn_id AND (clearing = 1 OR OLD.created_at < kept)
      )
      AND NOT EXISTS (
        SELECT 1 FROM projections CROSS JOIN step_places USING (space)
        WHERE clearing = 1 AND step_places.phase = OLD.phase AND step_places.id = OLD.id
      )
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a step cannot be deleted'); END;
  CREATE TRIGGER steps_refuse_replace BEFORE INSERT ON reasoning_steps
    WHEN EXISTS (SELECT 1 FROM reasoning_steps WHERE id = NEW.id)
    BEGIN SELECT RAISE(FAIL, '${appendOnly}: a step cannot be replaced'); END;

  CREATE TRIGGER turns_refuse_update
    BEFORE UPDATE OF id, session_id, thread_id, turn_number, timestamp, input_source ON turns
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: of a turn only what becomes of it changes'); END;
  -- also what belongs to no space may go
  CREATE TRIGGER turns_refuse_delete BEFORE DELETE ON turns
    WHEN EXISTS (SELECT 1 FROM projections WHERE session_id = OLD.session_id)
      AND NOT EXISTS (
        SELECT 1 FROM projections
        WHERE session_id = OLD.session_id AND (clearing = 1 OR OLD.changed_at < kept)
      )
    BEGIN SELECT RAISE(ABORT, '${appendOnly}: a turn cannot be deleted'); END;
  CREATE TRIGGER turns_refuse_replace BEFORE INSERT ON turns
    WHEN EXISTS (SELECT 1 FROM turns WHERE id = NEW.id)
      OR EXISTS (
        SELECT 1 FROM turns
        WHERE session_id = NEW.session_id AND thread_id = NEW.thread_id AND turn_number = NEW.turn_number
      )
    BEGIN SELECT RAISE(FAIL, '${appendOnly}: a turn cannot be replaced'); END;

  -- INSERT OR REPLACE deletes without asking the triggers above. FAIL: for what may ABORT, each insert keeps the pages
  -- that it changes
  CREATE TRIGGER IF NOT EXISTS envelopes_refuse_replace BEFORE INSERT ON envelopes
    WHEN EXISTS (SELECT 1 FROM envelopes WHERE space = NEW.space AND seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM envelopes WHERE space = NEW.space AND id = NEW.id)
    BEGIN SELECT RAISE(FAIL, '${takenId}'); END;
  CREATE TRIGGER IF NOT EXISTS pruned_refuse_replace BEFORE INSERT ON pruned
    WHEN EXISTS (SELECT 1 FROM pruned WHERE space = NEW.space AND through >= NEW.through)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: pruning cannot be undone'); END;
`
