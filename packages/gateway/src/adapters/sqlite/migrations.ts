import { Kind } from '@meup/protocol/kinds'
import { checkpoints } from './checkpoints.js'
import { digests } from './digest-schema.js'
import { projections } from './projection-schema.js'

const envelopes = `
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
    body BLOB NOT NULL,
    salt BLOB NOT NULL,
    leaf BLOB NOT NULL,
    hash BLOB NOT NULL,
    digest BLOB NOT NULL,
    PRIMARY KEY (space, seq),
    UNIQUE (space, id)
  ) STRICT;

  CREATE TRIGGER envelopes_refuse_update BEFORE UPDATE ON envelopes
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an envelope cannot be changed'); END;
  CREATE TRIGGER envelopes_refuse_delete BEFORE DELETE ON envelopes
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an envelope cannot be deleted'); END;
`

const pruning = `
  -- up to where a space has been pruned; hash = that of the row "through", snapshot = the state up to it
  CREATE TABLE pruned (
    space INTEGER PRIMARY KEY REFERENCES spaces (id),
    through INTEGER NOT NULL,
    hash BLOB NOT NULL,
    snapshot BLOB NOT NULL,
    at TEXT NOT NULL
  ) STRICT;

  CREATE TRIGGER pruned_refuse_back BEFORE UPDATE ON pruned
    WHEN NEW.space <> OLD.space OR NEW.through <= OLD.through
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: pruning cannot be undone'); END;
  CREATE TRIGGER pruned_refuse_delete BEFORE DELETE ON pruned
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: pruning cannot be undone'); END;

  -- what has been pruned may go, but never the end of the chain
  DROP TRIGGER envelopes_refuse_delete;
  CREATE TRIGGER envelopes_refuse_delete BEFORE DELETE ON envelopes
    WHEN NOT EXISTS (SELECT 1 FROM pruned WHERE space = OLD.space AND through >= OLD.seq)
      OR OLD.seq = (SELECT max(seq) FROM envelopes WHERE space = OLD.space)
    BEGIN SELECT RAISE(ABORT, 'the log is append-only: an envelope cannot be deleted'); END;
`

const contexts = `
  -- what happened in one context is found without looking at everything else
  CREATE INDEX IF NOT EXISTS envelopes_context ON envelopes (space, context, seq) WHERE context IS NOT NULL;
`

const decisions = `
  -- what the gateway decided is found without looking at everything else
  CREATE INDEX IF NOT EXISTS envelopes_decisions ON envelopes (space, seq) WHERE kind = '${Kind.systemDecision}';
`

/** Number n brings a file of schema version n to the next. What has been released is never changed: files stay. */
export const migrations: readonly string[] = [
  envelopes,
  pruning,
  projections,
  contexts,
  digests,
  `${checkpoints}${decisions}`,
]
