import { closeSync, openSync, rmSync } from 'node:fs'
import { phaseBits } from '@meup/folds'
import { getErrorMessage } from '@meup/protocol'
import type Database from 'better-sqlite3'
import { loadSqlite } from '../log/sqlite-driver.js'

/** Bits of all phases but `thinking`: their steps are rare, so each has a database index that finds them without a scan. */
const rarePhases = Object.entries(phaseBits).flatMap(([phase, bit]) => (phase === 'thinking' ? [] : [bit]))

/** Format of the file. A file of another format is deleted and rebuilt. */
const format = 6

const tables = `
  -- seq = the last indexed row of the log, hash = of that row; memory_seq = the last row that its memory covers; visibility = that of
  -- mcp.* by which words are indexed
  CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    epoch TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB,
    memory_seq INTEGER NOT NULL,
    visibility TEXT
  ) STRICT;

  -- what it takes to go on after memory_seq, as JSON: not in the row that changes with each portion, since it is large
  CREATE TABLE memories (
    space INTEGER PRIMARY KEY,
    memory TEXT NOT NULL
  ) STRICT;

  -- a turn or job as it began; number = null for a job, job = null for a turn; trigger, seq: of the log
  CREATE TABLE turns (
    space INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    id TEXT NOT NULL,
    agent TEXT NOT NULL,
    number INTEGER,
    job TEXT,
    source TEXT NOT NULL,
    trigger INTEGER,
    seq INTEGER NOT NULL,
    started TEXT NOT NULL,
    PRIMARY KEY (space, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX turns_agent ON turns (space, agent, number);
  CREATE INDEX turns_trigger ON turns (space, trigger) WHERE trigger IS NOT NULL;

  -- what an envelope does in a turn: bits of roles; at = milliseconds of the log's time; step, steps, phases, start: numbers of
  -- the steps that are made of it, how many, their phases as bits, and where their ids begin
  CREATE TABLE marks (
    space INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    roles INTEGER NOT NULL,
    at INTEGER NOT NULL,
    step INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    phases INTEGER NOT NULL,
    start INTEGER NOT NULL,
    PRIMARY KEY (space, seq, place)
  ) STRICT, WITHOUT ROWID;
  -- with all that a turn is listed by: a look at the table for each of them takes twice as long
  CREATE INDEX marks_turn ON marks (space, turn, seq, place, roles, steps);

  -- who may read rows whose words are indexed together, as JSON
  CREATE TABLE audiences (
    space INTEGER NOT NULL,
    class INTEGER NOT NULL,
    readers TEXT NOT NULL,
    PRIMARY KEY (space, class)
  ) STRICT, WITHOUT ROWID;

  -- a segment of the log whose words are indexed, in 2^bits buckets; always = blocks of rows that every search looks at
  CREATE TABLE segments (
    part INTEGER PRIMARY KEY,
    space INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    bits INTEGER NOT NULL,
    always BLOB NOT NULL,
    UNIQUE (space, segment)
  ) STRICT;

  -- id = part x 4096 + bucket
  CREATE TABLE words (
    id INTEGER PRIMARY KEY,
    tokens BLOB NOT NULL
  ) STRICT;
  ${rarePhases.map((bit) => `CREATE INDEX marks_phase_${bit} ON marks (space, seq, place) WHERE phases & ${bit} <> 0;`).join('\n  ')}
`

/**
 * The file of the index. It holds no original data: if it is missing, damaged, or of another format, it is rebuilt from the
 * logs. It survives the end of the process, but need not survive a power failure.
 */
export class IndexFile {
  readonly #path: string
  #db: Database.Database | undefined
  /** Called with the reason when the file has to be rebuilt. */
  onRebuild: (reason: string) => void = () => {}

  constructor(path: string) {
    this.#path = path
  }

  /** Throws if the file can neither be read nor created. */
  open(): Database.Database {
    this.#db ??= this.#open(loadSqlite())
    return this.#db
  }

  /** The open file; `undefined` = not open. */
  get opened(): Database.Database | undefined {
    return this.#db
  }

  /** Marks the content as invalid; the next use rebuilds the file. */
  discard(reason: string): void {
    this.close()
    this.#remove(reason)
  }

  close(): void {
    this.#db?.close()
    this.#db = undefined
  }

  #open(Sqlite: typeof Database): Database.Database {
    try {
      return this.#made(Sqlite)
    } catch (error) {
      if (!isDamaged(error)) throw error
      this.#remove(getErrorMessage(error))
      return this.#made(Sqlite)
    }
  }

  #made(Sqlite: typeof Database): Database.Database {
    closeSync(openSync(this.#path, 'a', 0o600))
    const db = new Sqlite(this.#path)
    try {
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = OFF')
      db.pragma('secure_delete = ON') // Erased content must not remain in free pages.
      db.pragma('wal_checkpoint(TRUNCATE)') // The WAL of a killed process may contain erased content.
      const found = Number(db.pragma('user_version', { simple: true }))
      const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
      if (found === format) return db
      if (!isEmpty)
        throw Object.assign(new Error(`it has format ${found}, not ${format}`), { code: otherFormat })
      db.transaction(() => {
        db.exec(tables)
        db.pragma(`user_version = ${format}`)
      })()
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }

  #remove(reason: string): void {
    this.onRebuild(reason)
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${this.#path}${suffix}`, { force: true })
  }
}

const otherFormat = 'INDEX_FORMAT'
/** Codes of a damaged file. SQLITE_ERROR: also a missing table in a file with our format number. */
const damage = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_ERROR', 'SQLITE_IOERR_SHORT_READ', otherFormat]

/** Creates an error for invalid content, on which the index is rebuilt like a damaged file. */
export const damaged = (reason: string, options?: ErrorOptions): Error =>
  Object.assign(new Error(`the index of turns is damaged: ${reason}`, options), { code: 'SQLITE_CORRUPT' })

/** Whether the file itself is damaged, so that rebuilding helps. */
export function isDamaged(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return damage.some((prefix) => code.startsWith(prefix))
}
