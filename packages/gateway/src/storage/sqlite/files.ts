import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import { loadSqlite } from '../../log/sqlite-driver.js'
import { isBusy } from './failure.js'
import { establishSchema } from './schema.js'

/** What an appended batch survives: a crash of this process, or also of the machine and its power. */
export type Durability = 'process' | 'power'

/** Of a new file. Each commit writes whole pages, and what is committed alone changes little of each. */
const PAGE_BYTES = 2048
/** Ids come in no order, so the same pages change again and again between two checkpoints. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024
const WAL_BYTES_KEPT = 64 * 1024 * 1024
const OPEN_TIMEOUT_MS = 5000

/** What a connection writes: all that is appended; or a few rows, from a thread that must not wait. */
export type Role = 'writer' | 'secondary'

/** To fold the write-ahead log into the file takes the disk: the thread that appends does it, the other one never. */
const manners: Readonly<Record<Role, { readonly checkpointBytes: number; readonly busyTimeoutMs: number }>> =
  {
    writer: { checkpointBytes: CHECKPOINT_BYTES, busyTimeoutMs: OPEN_TIMEOUT_MS },
    secondary: { checkpointBytes: 0, busyTimeoutMs: 0 },
  }

/** A connection that writes. `create` makes the file, for this user only, and its directory where they are missing. */
export function openForWriting(
  path: string,
  durability: Durability,
  { create, role = 'writer' }: { create: boolean; role?: Role },
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
    if (durability === 'power') db.pragma('fullfsync = ON') // On macOS nothing less empties the cache of the disk.
    db.pragma('secure_delete = FAST') // What moves to another page leaves nothing behind.
    const pageBytes = Number(db.pragma('page_size', { simple: true }))
    db.pragma(`wal_autocheckpoint = ${Math.floor(checkpointBytes / pageBytes)}`)
    db.pragma(`journal_size_limit = ${WAL_BYTES_KEPT}`)
    // To open it everybody waits: whoever is first puts in order what a process that was killed has left.
    db.pragma(`busy_timeout = ${busyTimeoutMs}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Runs a task during which what is deleted is overwritten with zeros, also where that writes pages that nothing else would. */
export function overwriting<Result>(db: Database.Database, task: () => Result): Result {
  db.pragma('secure_delete = ON')
  try {
    return task()
  } finally {
    db.pragma('secure_delete = FAST')
  }
}

/** Moves what the write-ahead log has into the file, as far as nobody is in the way. Whether that was all of it. */
export function foldWal(db: Database.Database): boolean {
  const [found] = db.pragma('wal_checkpoint(PASSIVE)') as { log: number; checkpointed: number }[]
  return found !== undefined && found.log === found.checkpointed
}

/** Milliseconds that writers wait for readers who stand in the way of `emptyWal`. */
const EMPTYING_MS = 20

/**
 * Moves all of the write-ahead log into the file and empties it: it has what was deleted, too. Whether nobody who reads or writes
 * was in the way.
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
 * Takes the log for this store, until the connection is closed or the process ends. Two gateways on one file would
 * each append from a head that the other has moved on.
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
    const advice = 'Stop that gateway, or give this one another file.'
    throw new LogError('locked', `Another gateway has the log ${path} open. ${advice}`, { cause: error })
  }
}

/** SQLite gives the files that it puts beside the database the same mode. */
function createPrivately(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  closeSync(openSync(path, 'a', 0o600))
}
