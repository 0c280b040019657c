import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Erasure } from '@meup/protocol'
import type Database from 'better-sqlite3'
import { getChainStart } from '../../log/chain.js'
import { ChainVerifier } from '../../log/chain-verifier.js'
import { LogError, logTexts } from '../../log/error.js'
import { loadSqlite } from '../../log/sqlite-driver.js'
import { openForReading } from './files.js'
import { readSnapshot } from './pruning.js'
import { columns, fromStored, type StoredRow } from './rows.js'
import { knownVersion } from './schema.js'
import { asLogError } from './sqlite-error.js'

/** The log of one space in a file. */
export interface CopiedLog {
  readonly space: string
  readonly epoch: string
  /** The first and the last seq; `head` 0 = the log is empty. */
  readonly first: number
  readonly head: number
  /** Hexadecimal hash of the last row. */
  readonly hash: string
}

/** A log with a verified chain. */
export interface RestoredLog extends CopiedLog {
  /** The latest records of erasures in the log. */
  readonly erased: readonly Erasure[]
}

/**
 * Copies the logs in a file to another file, as of one moment, even while a gateway writes. Throws a `LogError`: `occupied`
 * (the copy exists already), `format`, `corrupt`, `driver` or `io`.
 */
export const backUpLogs = (path: string, to: string): CopiedLog[] => copy(path, to, listLogs)

/**
 * Copies a backup to the place of a log. Verifies everything first, and leaves nothing if that fails. Checkpoints are not
 * copied: rights are computed from the verified envelopes.
 */
export const restoreLogs = (backup: string, path: string): RestoredLog[] =>
  copy(backup, path, (db) => {
    db.exec('DELETE FROM checkpoints')
    return verifyLogs(db)
  })

function copy<Result>(from: string, to: string, finish: (db: Database.Database) => Result): Result {
  try {
    const Sqlite = loadSqlite()
    refuseIfThere(to)
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
    const part = `${to}.part`
    try {
      rmSync(part, { force: true })
      closeSync(openSync(part, 'wx', 0o600))
      copyTo(part, from)
      const result = using(new Sqlite(part, { fileMustExist: true }), finish)
      place(part, to)
      return result
    } finally {
      for (const end of ['', '-journal']) rmSync(`${part}${end}`, { force: true })
    }
  } catch (error) {
    throw asLogError(error)
  }
}

/** Refuses files that a removed log has left: SQLite would take them for parts of the new one. */
function refuseIfThere(path: string): void {
  for (const [file, least] of [
    [path, 0],
    [`${path}-wal`, 1],
  ] as const) {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? -1) < least) continue
    throw new LogError('occupied', logTexts.fileExists, { path: file })
  }
}

/** Reads everything in one transaction, so that later commits are not included. */
function copyTo(part: string, from: string): void {
  using(openForReading(from), (db) => {
    if (knownVersion(db) === 0) throw new LogError('corrupt', logTexts.emptyFile, { path: from })
    db.prepare('VACUUM INTO ?').run(part)
  })
}

/** Renames the copy once it is flushed to the disk; never replaces another file. */
function place(part: string, to: string): void {
  flush(part)
  linkSync(part, to)
  unlinkSync(part)
  if (process.platform !== 'win32') flush(dirname(to)) // Windows cannot open directories.
}

function flush(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function using<Result>(db: Database.Database, task: (db: Database.Database) => Result): Result {
  try {
    return task(db)
  } finally {
    db.close()
  }
}

interface Known {
  readonly id: number
  readonly name: string
  readonly epoch: string
}

const listSpaces = (db: Database.Database): Known[] =>
  db.prepare<[], Known>('SELECT id, name, epoch FROM spaces ORDER BY name').all()

function listLogs(db: Database.Database): CopiedLog[] {
  const last = db.prepare<[number], { seq: number; hash: Uint8Array }>(
    'SELECT seq, hash FROM envelopes WHERE space = ? ORDER BY seq DESC LIMIT 1',
  )
  return listSpaces(db).map(({ id, name, epoch }) => {
    const { through, hash } = getChainStart({ epoch, snapshot: readSnapshot(db, id) })
    const tip = last.get(id) ?? { seq: through, hash }
    return describeLog(name, epoch, through, tip)
  })
}

function verifyLogs(db: Database.Database): RestoredLog[] {
  const damage = db.pragma('integrity_check(1)', { simple: true })
  if (damage !== 'ok') throw new LogError('corrupt', logTexts.damagedBackup, { reason: String(damage) })
  const rows = db
    .prepare<[number, number], StoredRow>(
      `SELECT ${columns} FROM envelopes WHERE space = ? AND seq > ? ORDER BY seq`,
    )
    .raw()
  return listSpaces(db).map(({ id, name, epoch }) => {
    const start = getChainStart({ epoch, snapshot: readSnapshot(db, id) })
    const chain = new ChainVerifier(start)
    for (const stored of rows.iterate(id, start.through)) {
      if (!chain.add(fromStored(stored))) throw changed(name, chain.last + 1)
    }
    if (chain.unrecorded !== undefined) throw changed(name, chain.unrecorded.seq)
    const tip = { seq: chain.last, hash: chain.hash }
    return { ...describeLog(name, epoch, start.through, tip), erased: chain.erasures }
  })
}

const describeLog = (
  space: string,
  epoch: string,
  through: number,
  { seq, hash }: { readonly seq: number; readonly hash: Uint8Array },
): CopiedLog => ({ space, epoch, first: through + 1, head: seq, hash: Buffer.from(hash).toString('hex') })

const changed = (space: string, seq: number): LogError =>
  new LogError('corrupt', logTexts.changedBackup, { space, seq })
