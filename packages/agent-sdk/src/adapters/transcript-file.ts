import { chmodSync, closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseExact, stringifyExact } from '@meup/protocol'
import type Database from 'better-sqlite3'
import type { LogEntry } from '../transcript/chain.js'
import { type Commit, hashCommit, seal } from '../transcript/commit.js'
import {
  type Annotation,
  type ContentType,
  contentHints,
  type SummaryContent,
  type Usage,
} from '../transcript/content.js'
import { TranscriptError } from '../transcript/errors.js'
import {
  type CommitDraft,
  type CommitLink,
  type EnvelopeLink,
  isSummary,
  type TranscriptStore,
} from '../transcript/store.js'
import { optionError } from './errors.js'

export interface TranscriptFileOptions {
  /** Days for which commits are kept; default 30. */
  readonly days?: number
  /** Maximum size in bytes; default 1 GiB. The oldest commits are removed first. */
  readonly bytes?: number
  readonly now?: () => number
}

/** A commit in the file, with its position and links. */
export interface KeptEntry extends LogEntry {
  /** Position in the file, starting at 1; removed commits count. */
  readonly number: number
  /** Envelopes sent as a result of this commit. */
  readonly envelopes: readonly EnvelopeLink[]
}

export interface EntryFilter {
  /** Selects the commits of a turn, given by the id of its trigger. */
  readonly turn?: string
  readonly type?: ContentType
  /** Returns only this many of the latest commits. */
  readonly last?: number
}

/** The result of verifying a file: the first commit that was altered, and how. */
export type FileVerdict =
  | { readonly ok: true; readonly commits: number; readonly first: number; readonly head: string | null }
  | { readonly ok: false; readonly number: number; readonly hash: string; readonly problem: string }

const format = 1
const schema = `
  -- hash covers parent and body; at, turn, type are of the body
  CREATE TABLE commits (
    number INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    parent TEXT,
    at INTEGER NOT NULL,
    turn TEXT,
    type TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX commits_turn ON commits (turn);
  CREATE INDEX commits_summary ON commits (number) WHERE type = 'summary';

  -- not part of commits or hashes: tokens, and the envelopes that came of a commit
  CREATE TABLE usage (
    hash TEXT PRIMARY KEY,
    input INTEGER,
    output INTEGER,
    reasoning INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE links (
    envelope TEXT NOT NULL,
    hash TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (envelope, hash)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX links_hash ON links (hash);

  -- the last commit that was removed, which the rest follows
  CREATE TABLE pruned (number INTEGER NOT NULL, hash TEXT) STRICT;
  INSERT INTO pruned VALUES (0, NULL);

  CREATE TRIGGER commits_append_only BEFORE UPDATE ON commits
    BEGIN SELECT raise(ABORT, 'commits are not changed'); END;
  CREATE TRIGGER commits_kept BEFORE DELETE ON commits
    WHEN OLD.number > (SELECT number FROM pruned)
    BEGIN SELECT raise(ABORT, 'commits are removed from the beginning only'); END;
  CREATE TRIGGER commits_removed AFTER DELETE ON commits BEGIN
    DELETE FROM usage WHERE hash = OLD.hash;
    DELETE FROM links WHERE hash = OLD.hash;
  END;
`

/** Milliseconds to wait for a lock of another process. */
const busyMs = 2000
/** Maximum bytes of the write-ahead log after a checkpoint. */
const walBytes = 4 * 1024 * 1024
/** Commits between two prunings, and commits removed per pruning. */
const [pruneEvery, pruneBatch] = [64, 256]
/** Maximum summaries that `summaries` returns, newest first: the caller needs the latest one of its current log. */
const maxSummaries = 100
const dayMs = 86_400_000

type Row = { number: number; hash: string; parent: string | null; at: number; turn: string | null } & {
  type: string
  body: string
}
type Body = Pick<Commit, 'content' | 'message' | 'metadata'>

/**
 * The transcript of one participant, in an SQLite file that only its owner can read. Each commit contains the hash of the
 * previous one. Several processes may append. Appended commits survive a crash of the process.
 */
export class TranscriptFile implements TranscriptStore {
  readonly #db: Database.Database
  readonly #statements = new Map<string, Database.Statement>()
  readonly #options: Required<TranscriptFileOptions>
  #untilPruning = 0

  private constructor(
    db: Database.Database,
    { days = 30, bytes = 2 ** 30, now = Date.now }: TranscriptFileOptions,
  ) {
    this.#db = db
    this.#options = { days, bytes, now }
  }

  /** Opens or creates a file for appending. Rejects if that fails or the file is not a transcript. */
  static async open(path: string, options: TranscriptFileOptions = {}): Promise<TranscriptFile> {
    const Sqlite = await loadSqlite()
    const folder = dirname(path)
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined)
      writeFileSync(join(folder, '.gitignore'), '*\n')
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
    const db = new Sqlite(path, { timeout: busyMs })
    try {
      if (!isEmpty(db)) mustBeTranscript(db, path)
      await whenFree(() => db.pragma('journal_mode = WAL'))
      db.pragma('synchronous = NORMAL')
      db.pragma('secure_delete = ON')
      db.pragma(`journal_size_limit = ${walBytes}`)
      db.transaction(() => create(db)).immediate()
      return new TranscriptFile(db, options)
    } catch (error) {
      db.close()
      throw error
    }
  }

  /** Opens a file for reading. Rejects if it is missing or not a transcript. */
  static async read(path: string): Promise<TranscriptFile> {
    if (!existsSync(path)) throw new TranscriptError('no_file', { file: path })
    const Sqlite = await loadSqlite()
    const db = new Sqlite(path, { timeout: busyMs, readonly: true })
    try {
      mustBeTranscript(db, path)
      return new TranscriptFile(db, {})
    } catch (error) {
      db.close()
      throw error
    }
  }

  append(drafts: readonly CommitDraft[]): readonly Commit[] {
    return this.#db.transaction(() => this.#append(drafts)).immediate()
  }

  link(links: readonly CommitLink[]): void {
    const insert = this.#prepare('INSERT OR IGNORE INTO links (envelope, hash, kind) VALUES (?, ?, ?)')
    this.#db
      .transaction(() => links.forEach(({ id, hash, kind }) => void insert.run(id, hash, kind)))
      .immediate()
  }

  /** Lists commits, oldest first. */
  entries({ turn, type, last = -1 }: EntryFilter = {}): KeptEntry[] {
    const given = Object.entries({ turn, type }).filter(([, value]) => value !== undefined)
    const where = given.map(([column]) => `${column} = ?`).join(' AND ') || 'TRUE'
    const rows = this.#prepare<unknown[], Row>(
      `SELECT * FROM commits WHERE ${where} ORDER BY number DESC LIMIT ?`,
    ).all(...given.map(([, value]) => value), last)
    return rows.reverse().map((row) => this.#toEntry(row))
  }

  /**
   * Finds a commit by hash prefix, by the id of an envelope, or by the id of a turn (its last commit). `'several'` = ambiguous.
   */
  find(name: string): KeptEntry | 'several' | undefined {
    const byHash = /^[\da-f]{4,64}$/.test(name)
      ? this.#prepare<[string, string], Row>(
          `SELECT * FROM commits WHERE hash >= ? AND hash < ? LIMIT 2`,
        ).all(name, `${name}g`)
      : []
    if (byHash.length > 1) return 'several'
    const [row = this.#findByEnvelope(name)] = byHash
    return row && this.#toEntry(row)
  }

  *summaries(): Generator<Commit<SummaryContent>, void> {
    const rows = this.#prepare<[number], Row>(
      `SELECT * FROM commits WHERE type = 'summary' ORDER BY number DESC LIMIT ?`,
    ).all(maxSummaries)
    for (const row of rows) {
      const { commit } = this.#toEntry(row)
      if (isSummary(commit)) yield commit
    }
  }

  /** Verifies all commits. Throws if the file cannot be read. */
  verify(): FileVerdict {
    return this.#db.transaction(() => this.#verify())()
  }

  close(): void {
    this.#db.close()
  }

  #verify(): FileVerdict {
    const pruned = this.#pruned()
    let [parent, number] = [pruned.hash, pruned.number]
    for (const row of this.#prepare<[], Row>('SELECT * FROM commits ORDER BY number').iterate()) {
      const problem = findProblem(row, parent, number + 1)
      if (problem !== undefined) return { ok: false, number: row.number, hash: row.hash, problem }
      parent = row.hash
      number = row.number
    }
    return { ok: true, commits: number - pruned.number, first: pruned.number + 1, head: parent }
  }

  #append(drafts: readonly CommitDraft[]): readonly Commit[] {
    const insert = this.#prepare('INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?, ?)')
    const note = this.#prepare('INSERT INTO usage VALUES (?, ?, ?, ?)')
    let { number, hash: parent } = this.#last()
    const before = number
    const commits = drafts.map(({ content, usage, ...options }) => {
      const commit = seal(content, parent, options)
      const { message, metadata } = commit
      const { at, turn } = readPlace(metadata)
      const body = stringifyExact({ content: commit.content, message, metadata })
      insert.run(++number, commit.hash, parent, at, turn, content.content_type, body)
      if (usage) note.run(commit.hash, usage.input, usage.output, usage.reasoning)
      parent = commit.hash
      return commit
    })
    this.#untilPruning -= drafts.length
    if (this.#untilPruning < 0) this.#prune(before)
    return commits
  }

  #last(): { readonly number: number; readonly hash: string | null } {
    return (
      this.#prepare<[], { number: number; hash: string }>(
        'SELECT number, hash FROM commits ORDER BY number DESC LIMIT 1',
      ).get() ?? this.#pruned()
    )
  }

  #pruned(): { readonly number: number; readonly hash: string | null } {
    const row = this.#prepare<[], { number: number; hash: string | null }>('SELECT * FROM pruned').get()
    return row ?? { number: 0, hash: null }
  }

  /** Removes at most `pruneBatch` commits beyond the limits; later prunings remove the rest. */
  #prune(through: number): void {
    const { days, bytes, now } = this.#options
    const since = now() - days * dayMs
    let excess = this.#countBytes() - bytes
    let last: { number: number; hash: string } | undefined
    const oldest = this.#prepare<
      [number, number],
      { number: number; hash: string; at: number; chars: number }
    >(
      `SELECT number, hash, at, length(body) AS chars FROM commits WHERE number <= ? ORDER BY number LIMIT ?`,
    ).all(through, pruneBatch)
    for (const commit of oldest) {
      if (commit.at >= since && excess <= 0) break
      excess -= commit.chars
      last = commit
    }
    this.#untilPruning = last === undefined || last.number < (oldest.at(-1)?.number ?? 0) ? pruneEvery : 0
    if (last === undefined) return
    this.#prepare('UPDATE pruned SET number = ?, hash = ?').run(last.number, last.hash)
    this.#prepare('DELETE FROM commits WHERE number <= ?').run(last.number)
  }

  #countBytes(): number {
    const read = (name: string): number => this.#db.pragma(name, { simple: true }) as number
    return (read('page_count') - read('freelist_count')) * read('page_size')
  }

  #findByEnvelope(name: string): Row | undefined {
    const linked = 'SELECT commits.* FROM links JOIN commits USING (hash) WHERE envelope = ?'
    const ofTurn = 'SELECT * FROM commits WHERE turn = ?'
    const find = (query: string) =>
      this.#prepare<[string], Row>(`${query} ORDER BY number DESC LIMIT 1`).get(name)
    return find(linked) ?? find(ofTurn)
  }

  #toEntry({ number, hash, parent, body }: Row): KeptEntry {
    const commit: Commit = { hash, parent, ...(parseExact(body) as Body) }
    const usage = this.#prepare<[string], Usage>(
      'SELECT input, output, reasoning FROM usage WHERE hash = ?',
    ).get(hash)
    const envelopes = this.#prepare<[string], EnvelopeLink>(
      'SELECT envelope AS id, kind FROM links WHERE hash = ?',
    ).all(hash)
    const priority: Annotation['priority'] = contentHints[commit.content.content_type].default_priority
    return { number, commit, priority, envelopes, ...(usage && { usage }) }
  }

  /** Prepares an SQL statement, but each one only once. */
  #prepare<Parameters extends unknown[], Result = unknown>(
    sql: string,
  ): Database.Statement<Parameters, Result> {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, known)
    return known as Database.Statement<Parameters, Result>
  }
}

const isEmpty = (db: Database.Database): boolean =>
  db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined

function create(db: Database.Database): void {
  if (!isEmpty(db)) return
  db.exec(schema)
  db.pragma(`user_version = ${format}`)
}

/** Retries while another process creates the file: SQLite does not wait for that by itself. */
async function whenFree(attempt: () => void): Promise<void> {
  for (const begin = Date.now(); ; ) {
    try {
      attempt()
      return
    } catch (error) {
      const isBusy = (error as { code?: string }).code === 'SQLITE_BUSY'
      if (!isBusy || Date.now() - begin > busyMs) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

function mustBeTranscript(db: Database.Database, path: string): void {
  const isOne = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'commits_turn'`).get()
  if (isOne !== undefined && db.pragma('user_version', { simple: true }) === format) return
  throw new TranscriptError('foreign_file', { file: path })
}

/** Reads the time and the turn of a commit from its metadata. */
function readPlace(metadata: Commit['metadata']): { readonly at: number; readonly turn: string | null } {
  const { at, turn } = metadata ?? {}
  const time = typeof at === 'string' ? Date.parse(at) : Number.NaN
  return { at: Number.isNaN(time) ? 0 : time, turn: typeof turn === 'string' ? turn : null }
}

function findProblem(row: Row, parent: string | null, number: number): string | undefined {
  if (row.number !== number) return `${row.number - number} commits before it are missing`
  if (row.parent !== parent) return 'it does not follow the commit before it'
  try {
    const body = parseExact(row.body) as Body
    if (hashCommit({ parent, ...body }) !== row.hash) return 'its content does not match its hash'
    const { at, turn } = readPlace(body.metadata)
    const isSame = row.at === at && row.turn === turn && row.type === body.content.content_type
    return isSame ? undefined : 'its columns do not match its content'
  } catch {
    return 'its content is not a commit'
  }
}

/**
 * The first database is never released: garbage-collecting it aborts Node 24.19 and newer if better-sqlite3 12 was compiled for
 * that version.
 */
let first: Database.Database | undefined

/** Whether better-sqlite3 13 can be used: its prebuilt addons need Node-API 10 and crash Node 20. */
const isCompiled = Number(process.versions.napi) >= 10

async function importSqlite(): Promise<unknown> {
  const compiled = 'better-sqlite3-13'
  if (isCompiled) {
    try {
      return await import(compiled)
    } catch {
      // better-sqlite3 13 is not installed: version 12 is imported below.
    }
  }
  return import('better-sqlite3')
}

async function loadSqlite(): Promise<typeof Database> {
  try {
    const { default: Sqlite } = (await importSqlite()) as { readonly default: typeof Database }
    first ??= new Sqlite(':memory:') // The first database loads the compiled addon.
    first.close()
    return Sqlite
  } catch (cause) {
    throw optionError(isCompiled ? 'sqlite' : 'compiledSqlite', {}, { cause })
  }
}
