import type Database from 'better-sqlite3'
import { LogError, logTexts } from '../../log/error.js'
import { refuseUpdate, tables } from './tables.js'

/** The format of log files. A file of another format is refused; there is no conversion. */
export const currentVersion = 8

/** Creates the tables in an empty file; refuses a file of another format or program. */
export function establishSchema(db: Database.Database): void {
  if (knownVersion(db) === currentVersion) {
    renewTrigger(db)
    return
  }
  db.transaction(() => {
    // Another process may have created the tables in the meantime.
    if (knownVersion(db) === currentVersion) return
    db.exec(tables)
    writeVersion(db, currentVersion)
  }).immediate()
}

/** Replaces the trigger of a file that an older gateway created: this gateway decides which kinds may be erased. */
function renewTrigger(db: Database.Database): void {
  const name = 'envelopes_refuse_update'
  const find = db.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck()
  if (`${find.get(name)};` === refuseUpdate) return
  db.transaction(() => db.exec(`DROP TRIGGER IF EXISTS ${name}; ${refuseUpdate}`)).immediate()
}

/** The file's version, 0 for an empty one; refuses what `establishSchema` refuses. */
export function knownVersion(db: Database.Database): number {
  const version = readVersion(db)
  const path = db.name
  if (version !== currentVersion && version !== 0)
    throw new LogError('format', logTexts.format, { path, format: version, known: currentVersion })
  if (version === 0 && countTables(db) > 0) throw new LogError('corrupt', logTexts.foreignFile, { path })
  return version
}

/** Writes the version again: the smallest possible write, which changes no content. */
export function rewriteVersion(db: Database.Database): void {
  writeVersion(db, readVersion(db))
}

function readVersion(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }))
}

function writeVersion(db: Database.Database, version: number): void {
  db.pragma(`user_version = ${version}`)
}

function countTables(db: Database.Database): number {
  return db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() ?? 0
}
