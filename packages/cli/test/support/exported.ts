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

/** A step as the HTTP API returns it. */
export interface SeenStep extends AuditEntry {
  readonly seq: number
  readonly thread_id: string
  readonly turn_number: number | null
}

/** Path for an export. */
export const exportFile = (): string => join(folderWith(), 'audit.db')

/** Runs `meup audit export` on a staged space; returns its notices. */
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

/** Opens a database until the end of the test. */
export function openFile(path: string): Database.Database {
  const db = new Database(path)
  onTestFinished(() => void db.close())
  return db
}

/** All turns and steps in the file. */
export function readRows(path: string) {
  const db = new Database(path, { readonly: true })
  const all = (table: string) => db.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()
  const rows = { turns: all('turns'), steps: all('reasoning_steps') }
  db.close()
  return rows
}

/** All steps that a reader may see, oldest first. */
export async function readSteps({ as }: Pick<ReplayScreen, 'as'>, reader: string): Promise<SeenStep[]> {
  const { steps } = (await as(reader).json('/audit?limit=1000')) as {
    steps: (SeenStep & RightInfo & Pick<AuditStep, 'asked_by' | 'rationale' | 'parameters' | 'redacted_by'>)[]
  }
  // The export has only the columns of the audit log's first version: no rights, rules, askers or arguments.
  return steps
    .reverse()
    .map(({ allowed_by, approved_by, right, asked_by, rationale, parameters, redacted_by, ...step }) => step)
}
