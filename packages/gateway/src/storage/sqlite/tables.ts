import { Kind, lastingKinds } from '@meup/protocol/kinds'

/** The trigger's message for an envelope whose id or seq is taken. */
export const takenId = 'the log is append-only: an envelope cannot be replaced'

/** SQL of the columns that an erasure leaves unchanged, in the row before (`OLD`) or after (`NEW`) the update. */
const kept = (row: 'OLD' | 'NEW'): string =>
  ['space', 'seq', 'id', 'ts', '"from"', 'kind', '"to"', 'context', 'correlationId', 'leaf', 'hash']
    .map((column) => `${row}.${column}`)
    .join(', ')

/** The trigger permits only one update: erasing the body of a kind that may be erased. */
export const refuseUpdate = `CREATE TRIGGER envelopes_refuse_update BEFORE UPDATE ON envelopes
  WHEN OLD.kind IN ('${lastingKinds.join("', '")}')
    OR (NEW.rowid, ${kept('NEW')}, NEW.body, NEW.salt, NEW.digest)
      IS NOT (OLD.rowid, ${kept('OLD')}, x'', x'', x'')
  BEGIN SELECT RAISE(ABORT, 'the log is append-only: an envelope cannot be changed'); END;`

/** SQL that creates the tables of a log file. */
export const tables = `
  CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch TEXT NOT NULL
  ) STRICT;

  -- "to" and correlationId are JSON; null = absent
  CREATE TABLE envelopes (
    space INTEGER NOT NULL REFERENCES spaces (id),
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    ts TEXT NOT NULL,
    "from" TEXT NOT NULL,
    kind TEXT NOT NULL,
    "to" TEXT,
    context TEXT,
    correlationId TEXT,
    salt BLOB NOT NULL,
    leaf BLOB NOT NULL,
    hash BLOB NOT NULL,
    digest BLOB NOT NULL,
    -- the last column, so that reads of other columns do not pass over it
    body BLOB NOT NULL,
    PRIMARY KEY (space, seq),
    UNIQUE (space, id)
  ) STRICT;
  -- what happened in one context, and what the gateway decided, is found without looking at everything else
  CREATE INDEX envelopes_context ON envelopes (space, context, seq) WHERE context IS NOT NULL;
  CREATE INDEX envelopes_decisions ON envelopes (space, seq) WHERE kind = '${Kind.systemDecision}';

  -- up to where a space has been pruned; hash = that of the row "through", snapshot = the state up to it
  CREATE TABLE pruned (
    space INTEGER PRIMARY KEY REFERENCES spaces (id),
    through INTEGER NOT NULL,
    hash BLOB NOT NULL,
    snapshot BLOB NOT NULL,
    at TEXT NOT NULL
  ) STRICT;

  -- what the rows of a space up to "through" add up to; digest = of this row, the epoch, and the hash of that row
  CREATE TABLE checkpoints (
    space INTEGER PRIMARY KEY REFERENCES spaces (id),
    through INTEGER NOT NULL,
    format TEXT NOT NULL,
    bytes BLOB NOT NULL,
    digest BLOB NOT NULL
  ) STRICT;

  ${refuseUpdate}
  -- what has been pruned may go, but never the end of the chain
  CREATE TRIGGER envelopes_refuse_delete BEFORE DELETE ON envelopes
    WHEN NOT EXISTS (SELECT 1 FROM pruned WHERE space = OLD.space AND through >= OLD.seq)
      OR OLD.seq = (SELECT max(seq) FROM envelopes WHERE space = OLD.space)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an envelope cannot be deleted'); END;
  -- INSERT OR REPLACE deletes without asking the trigger above. FAIL: for what may ABORT, each insert keeps the pages
  -- that it changes
  CREATE TRIGGER envelopes_refuse_replace BEFORE INSERT ON envelopes
    WHEN EXISTS (SELECT 1 FROM envelopes WHERE space = NEW.space AND seq = NEW.seq)
      OR EXISTS (SELECT 1 FROM envelopes WHERE space = NEW.space AND id = NEW.id)
    BEGIN SELECT RAISE(FAIL, '${takenId}'); END;

  CREATE TRIGGER pruned_refuse_back BEFORE UPDATE ON pruned
    WHEN NEW.space <> OLD.space OR NEW.through <= OLD.through
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: pruning cannot be undone'); END;
  CREATE TRIGGER pruned_refuse_delete BEFORE DELETE ON pruned
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: pruning cannot be undone'); END;
  CREATE TRIGGER pruned_refuse_replace BEFORE INSERT ON pruned
    WHEN EXISTS (SELECT 1 FROM pruned WHERE space = NEW.space AND through >= NEW.through)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: pruning cannot be undone'); END;
`
