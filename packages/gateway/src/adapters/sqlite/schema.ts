import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'

const VERSION = 1

const schema = `
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

  PRAGMA user_version = ${VERSION};
`

/** Makes the tables of an empty file; refuses a file that is not this version's. */
export function establishSchema(db: Database.Database): void {
  const version = Number(db.pragma('user_version', { simple: true }))
  if (version === VERSION) return
  if (version > VERSION) throw newerSchema(db.name, version)
  const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get()
  if (tables !== 0) throw foreign(db.name)
  db.transaction(() => db.exec(schema)).immediate()
}

function newerSchema(path: string, version: number): LogError {
  const found = `A newer gateway wrote the log ${path} (schema ${version}; this one knows ${VERSION}).`
  return new LogError('newer_schema', `${found} Start the newer gateway, or give this one another file.`)
}

function foreign(path: string): LogError {
  return new LogError('corrupt', `${path} is a database, but not a log. Give the gateway another file.`)
}
