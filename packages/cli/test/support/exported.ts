import { join } from 'node:path'
import type { AuditStep } from '@meup/agent-sdk/http'
import type { RightInfo } from '@meup/folds'
import { testToken } from '@meup/gateway/testing'
import Database from 'better-sqlite3'
import { onTestFinished, vi } from 'vitest'
import { exportSqlite, type SqliteFlags } from '../../src/audit/export-sqlite.js'
import type { AuditEntry } from '../../src/audit/reasoning-log.js'
import { folderWith } from './folder.js'

interface ReplayScreen {
  readonly url: string
  as(reader: string): { json(path: string): Promise<unknown> }
}

/** A step as in the HTTP API. */
export interface ToldStep extends AuditEntry {
  readonly seq: number
  readonly thread_id: string
  readonly turn_number: number | null
}

/** The target of an export. */
export const exportFile = (): string => join(folderWith(), 'audit.db')

/** Exports the audit of a staged space to a file, as `meup audit export` does, and gives what it said. */
export async function exportTo(
  path: string,
  { url }: Pick<ReplayScreen, 'url'>,
  reader: string,
  flags: Partial<SqliteFlags> = {},
): Promise<string> {
  const folder = folderWith({ token: testToken(reader) })
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    await exportSqlite({ url, space: 'test', tokenFile: join(folder, 'token'), to: path, ...flags })
    return said.mock.calls.join('')
  } finally {
    said.mockRestore()
  }
}

/** A file for the rest of the test. */
export function openFile(path: string): Database.Database {
  const db = new Database(path)
  onTestFinished(() => void db.close())
  return db
}

/** The rows of its tables. */
export function readRows(path: string) {
  const db = new Database(path, { readonly: true })
  const all = (table: string) => db.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()
  const rows = { turns: all('turns'), steps: all('reasoning_steps') }
  db.close()
  return rows
}

/** All steps that a reader may read, the oldest first. */
export async function readSteps({ as }: Pick<ReplayScreen, 'as'>, reader: string): Promise<ToldStep[]> {
  const { steps } = (await as(reader).json('/audit?limit=1000')) as {
    steps: (ToldStep & RightInfo & Pick<AuditStep, 'asked_by' | 'rationale' | 'parameters' | 'redacted_by'>)[]
  }
  // The columns of the export are those of the first version of the audit log: without rights, rules, askers and arguments.
  return steps
    .reverse()
    .map(({ allowed_by, approved_by, right, asked_by, rationale, parameters, redacted_by, ...step }) => step)
}
