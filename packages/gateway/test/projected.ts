import { type Draft, sqliteStore } from '@meup/gateway'
import { defaultSafety } from '@meup/safety'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { temporaryFile } from './support.js'

/** Opens the log of the space `main` in a file, and what is projected of it, for the rest of the test. */
export async function openProjected(path: string) {
  const repairs: string[] = []
  const store = await sqliteStore({ path })
  onTestFinished(() => store.close())
  const log = await store.open('main')
  const projection = await log.project({ safety: defaultSafety, repaired: (reason) => repairs.push(reason) })
  return { store, log, projection, repairs, db: connect(path) }
}

/** A file in which these have been logged and projected. */
export async function projected(drafts: readonly Draft[]) {
  const path = temporaryFile('log.db')
  const opened = await openProjected(path)
  await opened.log.append(drafts)
  await opened.projection.advance(drafts.length)
  return { path, ...opened }
}

/** Another program's connection to the file, for the rest of the test. */
export function connect(path: string): Database.Database {
  const db = new Database(path)
  onTestFinished(() => void db.close())
  return db
}

const tables = ['turns', 'tool_decisions', 'reasoning_steps', 'step_places', 'batch_ends']

/** Every row of the projection, as any SQLite reads it, and how far it has come. */
export function dump(db: Database.Database): Record<string, unknown[]> {
  const rows = tables.map((table) => [
    table,
    db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3`).raw().all(),
  ])
  return Object.fromEntries([
    ...rows,
    ['place', db.prepare('SELECT seq, kept, clearing FROM projections').all()],
  ])
}
