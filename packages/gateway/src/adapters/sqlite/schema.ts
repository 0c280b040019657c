import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import { migrations } from './migrations.js'

/** Brings the file to this version's schema; refuses one that a newer version, or somebody else, has made. */
export function establishSchema(db: Database.Database): void {
  const version = knownVersion(db)
  for (const [done, migration] of migrations.entries()) {
    if (done >= version) db.transaction(() => migrate(db, migration, done + 1)).immediate()
  }
}

/** The version that `establishSchema` brings a file to. */
export const currentVersion = migrations.length

/** The file's version, 0 for an empty one; refuses what `establishSchema` refuses. */
export function knownVersion(db: Database.Database): number {
  const version = versionOf(db)
  if (version > currentVersion) throw newerSchema(db.name, version)
  if (version === 0 && countTables(db) > 0) throw foreign(db.name)
  return version
}

/** The version is stored in the same transaction: a file is always one version's, wherever it was cut off. */
function migrate(db: Database.Database, migration: string, version: number): void {
  db.exec(migration)
  writeVersion(db, version)
}

/** The smallest write there is: what is on the disk stays as it was. */
export function rewriteVersion(db: Database.Database): void {
  writeVersion(db, versionOf(db))
}

function versionOf(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }))
}

function writeVersion(db: Database.Database, version: number): void {
  db.pragma(`user_version = ${version}`)
}

function countTables(db: Database.Database): number {
  return db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() ?? 0
}

function newerSchema(path: string, version: number): LogError {
  const found = `A newer gateway wrote the log ${path} (schema ${version}; this one knows ${currentVersion}).`
  return new LogError('newer_schema', `${found} Start the newer gateway, or give this one another file.`)
}

function foreign(path: string): LogError {
  return new LogError('corrupt', `${path} is a database, but not a log. Give the gateway another file.`)
}
