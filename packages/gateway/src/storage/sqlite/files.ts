import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { LogError, logTexts } from '../../log/error.js'
import { loadSqlite } from '../../log/sqlite-driver.js'
import { establishSchema } from './schema.js'
import { isBusy } from './sqlite-error.js'

/** An appended batch survives a crash of the process, or also a power failure. */
export type Durability = 'process' | 'power'

/** Page size of a new file: small, because commits write whole pages and change little of each. */
const PAGE_BYTES = 2048
/**
 * Bytes of the write-ahead log at which it is checkpointed. Large, because ids are random, so the same pages change repeatedly
 * between two checkpoints.
 */
const CHECKPOINT_BYTES = 16 * 1024 * 1024
const WAL_BYTES_KEPT = 64 * 1024 * 1024
const OPEN_TIMEOUT_MS = 5000

/** `writer` appends; `secondary` writes a few rows from a thread that must not wait. */
export type FileRole = 'writer' | 'secondary'

/** Settings by role. Only the writer checkpoints the write-ahead log, because that waits for the disk. */
const manners: Readonly<
  Record<FileRole, { readonly checkpointBytes: number; readonly busyTimeoutMs: number }>
> = {
  writer: { checkpointBytes: CHECKPOINT_BYTES, busyTimeoutMs: OPEN_TIMEOUT_MS },
  secondary: { checkpointBytes: 0, busyTimeoutMs: 0 },
}

/** Opens a connection that writes. `create` makes the file, readable by this user only, and its directory if missing. */
export function openForWriting(
  path: string,
  durability: Durability,
  { create, role = 'writer' }: { create: boolean; role?: FileRole },
): Database.Database {
  const Sqlite = loadSqlite()
  if (create) createPrivately(path)
  const { checkpointBytes, busyTimeoutMs } = manners[role]
  const db = new Sqlite(path, { fileMustExist: true, timeout: OPEN_TIMEOUT_MS })
  try {
    db.pragma(`page_size = ${PAGE_BYTES}`)
    establishSchema(db)
    db.pragma('journal_mode = WAL')
    db.pragma(`synchronous = ${durability === 'power' ? 'FULL' : 'NORMAL'}`)
    if (durability === 'power') db.pragma('fullfsync = ON') // On macOS only this flushes the cache of the disk.
    db.pragma('secure_delete = FAST') // Moved rows leave no copies behind.
    const pageBytes = Number(db.pragma('page_size', { simple: true }))
    db.pragma(`wal_autocheckpoint = ${Math.floor(checkpointBytes / pageBytes)}`)
    db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`)
    // The timeout is set last: opening the file may wait up to `OPEN_TIMEOUT_MS`, while another process recovers the
    // write-ahead log of a killed one.
    db.pragma(`busy_timeout = ${busyTimeoutMs}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Runs a task that overwrites deleted content with zeros, even if that writes additional pages. */
export function overwriting<Result>(db: Database.Database, task: () => Result): Result {
  db.pragma('secure_delete = ON')
  try {
    return task()
  } finally {
    db.pragma('secure_delete = FAST')
  }
}

/** Checkpoints the write-ahead log into the file, as far as readers permit. Returns whether it did so completely. */
export function foldWal(db: Database.Database): boolean {
  const [found] = db.pragma('wal_checkpoint(PASSIVE)') as { log: number; checkpointed: number }[]
  return found !== undefined && found.log === found.checkpointed
}

/** Milliseconds that `emptyWal` waits for readers; writers are blocked for as long. */
const EMPTYING_MS = 20

/**
 * Checkpoints the write-ahead log completely and truncates it, because it contains deleted content as well. Returns whether no
 * reader or writer prevented it.
 */
export function emptyWal(db: Database.Database): boolean {
  const before = Number(db.pragma('busy_timeout', { simple: true }))
  db.pragma(`busy_timeout = ${EMPTYING_MS}`)
  try {
    return db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 0
  } finally {
    db.pragma(`busy_timeout = ${before}`)
  }
}

export function openForReading(path: string): Database.Database {
  const Sqlite = loadSqlite()
  return new Sqlite(path, { readonly: true, fileMustExist: true })
}

/**
 * Locks the log for this store until the connection is closed or the process ends. Two gateways on one file would each append
 * after a head that the other has moved.
 */
export function lock(path: string): Database.Database {
  const Sqlite = loadSqlite()
  createPrivately(`${path}.lock`)
  const holder = new Sqlite(`${path}.lock`, { timeout: 0 })
  try {
    holder.exec('BEGIN EXCLUSIVE')
    return holder
  } catch (error) {
    holder.close()
    if (!isBusy(error)) throw error
    throw new LogError('locked', logTexts.locked, { path }, { cause: error })
  }
}

/** Creates an empty file that only this user may read: SQLite gives its side files the mode of the database. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}
