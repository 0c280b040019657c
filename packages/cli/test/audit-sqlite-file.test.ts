import { readFileSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { stage, twoCalls } from '../../gateway/test/turns.js'
import { migrate } from '../src/audit/schema.js'
import { getExitCode } from '../src/lib/exit.js'
import { answering } from './support/answering.js'
import { exportFile, exportTo, openFile, readRows } from './support/exported.js'

async function staged() {
  const space = await stage()
  await space.say(...twoCalls('a'))
  return space
}

describe('an export to a file', () => {
  test.for<[what: string, make: (path: string) => void, says: RegExp]>([
    [
      'of another log',
      (path) => void editLog(path),
      /is of the log other of test, and the log of test is \S+; name another file with --to$/,
    ],
    [
      'of another schema',
      (path) => void setVersion(path, 10),
      /has schema version 10, and this version of meup writes 9;/,
    ],
    [
      'that is another database',
      (path) => new Database(path).exec('CREATE TABLE t (x)').close(),
      /is a database, but no export of an audit;/,
    ],
    ['that is no database', (path) => writeFileSync(path, 'text, '.repeat(999)), /is not a SQLite database;/],
  ])('%s refuses it, and leaves it as it is', async ([, make, says]) => {
    const space = await staged()
    const path = exportFile()
    make(path)
    const before = readFileSync(path)
    const error = await exportTo(path, space, 'auditor').catch((reason: unknown) => reason)
    expect(error).toMatchObject({ message: expect.stringMatching(says) })
    expect(getExitCode(error)).toBe(1)
    expect(readFileSync(path).equals(before)).toBe(true)
  })
})

test('an export goes on after a gateway has put it off', async () => {
  const row = {
    ...{ id: 's', turn_id: 't', step_number: 0, phase: 'plan', content: 'hm', created_at: '2026' },
    ...{ linked_tool_call: null, linked_policy_decision: null, linked_approval_request: null },
    ...{ thread_id: 'test/ben', turn_number: 1, timestamp: '2026', state: 'running', input_source: 'chat' },
  }
  let asked = 0
  const at = await answering(({ pathname }) => {
    if (pathname.endsWith('/participants')) return { body: { epoch: 'epoch', head: 1 } }
    if (pathname.endsWith('/contexts')) return { body: { contexts: [] } }
    if (pathname.endsWith('/envelopes')) return { body: { envelopes: [], epoch: 'epoch', head: 1 } }
    asked++
    if (asked === 1) return { status: 429, body: { code: 'rate_limited', detail: 'later' } }
    if (asked === 2) return { status: 503, body: { code: 'unavailable', detail: 'later' } }
    return { body: { steps: [row], decisions: [], has_more: false } }
  })
  const path = exportFile()
  expect(await exportTo(path, at, 'ana')).toBe(`${path}: 1 step and 1 turn added\n`)
  expect(asked).toBe(3)
})

verifies('A23', 'a file of version 8 gets the steps by one migration, which may run twice', async () => {
  const space = await staged()
  const fresh = exportFile()
  await exportTo(fresh, space, 'auditor')
  const made = openFile(fresh)
  const path = exportFile()
  const db = openFile(path)
  const createdAs = (table: string) =>
    made.prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?').pluck().get(table)
  db.exec(`${createdAs('exported_log')}; ${createdAs('turns')}; PRAGMA user_version = 8`)
  db.prepare('INSERT INTO exported_log VALUES (?, ?)').run(readSession(made), 'test')
  db.exec(
    `INSERT INTO turns VALUES ('0', '${readSession(made)}', 'test/ana', 1, '2025', 'completed', 'chat')`,
  )
  const [turn] = rowsWithoutSteps(db)
  const readVersion = () => db.pragma('user_version', { simple: true })
  await exportTo(path, space, 'auditor')
  expect([readVersion(), readSchema(db)]).toEqual([9, readSchema(made)])
  expect(rowsWithoutSteps(db)[0]).toEqual(turn)
  const rows = readRows(path)
  db.pragma('user_version = 8')
  await exportTo(path, space, 'auditor')
  expect([readVersion(), readSchema(db)]).toEqual([9, readSchema(made)])
  expect(readRows(path)).toEqual(rows)
})

const rowsWithoutSteps = (db: Database.Database) => db.prepare('SELECT * FROM turns ORDER BY id').all()
const readSchema = (db: Database.Database) =>
  db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2').all()
const readSession = (db: Database.Database): string =>
  db.prepare<[], string>('SELECT session_id FROM exported_log').pluck().get() ?? ''

/** Changes the file to an export of another log. */
function editLog(path: string): void {
  const db = new Database(path)
  migrate(db)
  db.exec("INSERT INTO exported_log VALUES ('other', 'test')")
  db.close()
}

/** Changes the schema version of the file. */
function setVersion(path: string, version: number): void {
  editLog(path)
  const db = new Database(path)
  db.pragma(`user_version = ${version}`)
  db.close()
}
