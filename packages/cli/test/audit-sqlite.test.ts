import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FakeClock } from '@meup/gateway/testing'
import type Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { repositoryRoot } from '../../../test/support/files.js'
import { snippetsOf } from '../../../test/support/snippets.js'
import { verifies } from '../../../test/verifies.js'
import { story } from '../../gateway/test/reasoning-story.js'
import {
  begin,
  call,
  chat,
  conclude,
  result,
  stage,
  stores,
  thought,
  twoCalls,
} from '../../gateway/test/turns.js'
import { ReasoningLog } from '../src/audit/reasoning-log.js'
import { exportFile, exportTo, openFile, readRows, readSteps } from './support/exported.js'

const kinds = ['memory', 'SQLite'] as const

async function staged(kind: (typeof kinds)[number] = 'memory') {
  return stage({ store: await stores[kind]() })
}

/** A space with turns of several agents, jobs and a refusal, and its export by the auditor. */
async function exported(kind: (typeof kinds)[number] = 'memory') {
  const space = await staged(kind)
  await space.say(...story, ['ben', thought('aside', 'for ana', { to: ['ana'] })], ...twoCalls('a'))
  expect((await space.post('stranger', call('x', 'aside', 'look', 'why'))).status).toBe(403)
  const path = exportFile()
  await exportTo(path, space, 'auditor')
  return { ...space, path, db: openFile(path) }
}

describe('an export to SQLite', () => {
  verifies('A01', 'has the table of the document, and takes no step of an unknown turn', async () => {
    const { db } = await exported()
    const columns = db.prepare<[], unknown[]>('PRAGMA table_info(reasoning_steps)').raw().all()
    expect(columns).toEqual([
      [0, 'id', 'TEXT', 0, null, 1],
      [1, 'turn_id', 'TEXT', 1, null, 0],
      [2, 'step_number', 'INTEGER', 1, null, 0],
      [3, 'phase', 'TEXT', 1, null, 0],
      [4, 'content', 'TEXT', 1, null, 0],
      [5, 'linked_tool_call', 'TEXT', 0, null, 0],
      [6, 'linked_policy_decision', 'TEXT', 0, null, 0],
      [7, 'linked_approval_request', 'TEXT', 0, null, 0],
      [8, 'created_at', 'TEXT', 1, "datetime('now')", 0],
    ])
    const step = { turn_id: 'nobody', step_number: 0, phase: 'thinking', content: 'hm' } as const
    expect(() => new ReasoningLog(db).record(step)).toThrow(/FOREIGN KEY/)
  })

  verifies('A02', 'has the three indexes of the document, and the queries use them', async () => {
    const { db } = await exported()
    const indexes = db.prepare<[], string>(
      "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'reasoning_steps' AND sql IS NOT NULL",
    )
    expect(indexes.pluck().all().sort()).toEqual([
      'CREATE INDEX idx_reasoning_created ON reasoning_steps(created_at)',
      'CREATE INDEX idx_reasoning_phase ON reasoning_steps(phase)',
      'CREATE INDEX idx_reasoning_turn ON reasoning_steps(turn_id)',
    ])
    const turn = db.prepare<[], string>('SELECT id FROM turns').pluck().get() ?? ''
    expect(plan(db, (log) => log.exportMarkdown(turn))).toContain('idx_reasoning_turn (turn_id=?)')
    expect(plan(db, (log) => log.find({ phase: 'error' }))).toContain('idx_reasoning_phase (phase=?)')
    const between = plan(db, (log) => log.find({ since: '2026', until: '2027' }))
    expect(between).toContain('idx_reasoning_created (created_at>? AND created_at<?)')
    expect(plan(db, (log) => log.prune())).toContain('idx_reasoning_created (created_at<?)')
  })

  verifies(['A16', 'A17'], 'takes no change, and nothing out but what was pruned', async () => {
    const { db, path } = await exported()
    const before = readRows(path)
    expect(before.steps.length).toBeGreaterThan(8)
    for (const statement of [
      "UPDATE reasoning_steps SET content = 'nothing'",
      'UPDATE reasoning_steps SET step_number = 0',
      'UPDATE OR REPLACE reasoning_steps SET rowid = 1',
      'DELETE FROM reasoning_steps',
      'DELETE FROM reasoning_steps WHERE step_number = 0',
      'REPLACE INTO reasoning_steps SELECT * FROM reasoning_steps LIMIT 1',
      "INSERT OR REPLACE INTO reasoning_steps (rowid, id, turn_id, step_number, phase, content) SELECT 1, 'x', id, 0, 'plan', '' FROM turns LIMIT 1",
      "UPDATE turns SET thread_id = 'test/eve'",
      'UPDATE OR REPLACE turns SET rowid = 1',
      'UPDATE turns SET turn_number = 7',
      'REPLACE INTO turns SELECT * FROM turns LIMIT 1',
      'DELETE FROM turns',
      "UPDATE exported_log SET session_id = 'x'",
      "INSERT INTO exported_log VALUES ('x', 'test')",
      'DELETE FROM exported_log',
    ]) {
      expect(() => db.exec(statement), statement).toThrow(/append-only/)
    }
    expect(readRows(path)).toEqual(before)
    db.exec("INSERT INTO prunings VALUES ('2000-01-01T00:00:00.000Z', 0, '')")
    expect(() => db.exec('DELETE FROM reasoning_steps'), 'what is younger than that').toThrow(/append-only/)
    for (const statement of ['UPDATE prunings SET steps = 1', 'DELETE FROM prunings'])
      expect(() => db.exec(statement)).toThrow(/append-only/)
  })

  verifies(
    'A16',
    'is written by INSERT alone: nothing in the code changes or deletes a step but prune',
    () => {
      const folder = fileURLToPath(new URL('../src/audit/', import.meta.url))
      const found = readdirSync(folder).flatMap((file) => {
        const text = readFileSync(join(folder, file), 'utf8')
        const statement = /(?:UPDATE|DELETE FROM|REPLACE INTO) (?:main\.)?(?:reasoning_steps|turns) [^'`]*/g
        return (text.match(statement) ?? []).map((sql) => [file, sql])
      })
      expect(found).toEqual([
        ['audit-file.ts', 'UPDATE turns SET state = @state WHERE id = @id AND state <> @state'],
        ['reasoning-log.ts', 'DELETE FROM reasoning_steps WHERE created_at < ?'],
      ])
    },
  )

  test.for(kinds)('has every step that its reader is told, in the order of the turns: %s', async (kind) => {
    const { path, db, ...space } = await exported(kind)
    const served = await readSteps(space, 'auditor')
    expect(readRows(path).steps).toEqual(
      served.map(({ seq, thread_id, turn_number, timestamp, state, input_source, ...row }) => row),
    )
    const turns = new Map(
      served.map(({ turn_id: id, thread_id, turn_number, timestamp, state, input_source }) => [
        id,
        { id, session_id: readSession(db), thread_id, turn_number, timestamp, state, input_source },
      ]),
    )
    expect(readRows(path).turns).toEqual([...turns.values()].sort(byId))
  })

  verifies('A21', 'tells the whole chain of a session, as it was lived', async () => {
    const { db, ...space } = await exported()
    const served = await readSteps(space, 'auditor')
    const turns = [...new Set(served.map(({ turn_id }) => turn_id))].sort()
    const lived = turns.flatMap((id) => served.filter(({ turn_id }) => turn_id === id))
    const log = new ReasoningLog(db)
    expect(log.getAuditTrail(readSession(db))).toEqual(
      lived.map(({ seq, thread_id, turn_number, ...entry }) => entry),
    )
    for (const id of turns) {
      const paragraphs = log.exportMarkdown(id).trimEnd().split('\n\n')
      expect(paragraphs).toHaveLength(1 + served.filter(({ turn_id }) => turn_id === id).length)
    }
  })

  verifies('A15', 'has links that resolve to calls, decisions and proposals of the log', async () => {
    const { db, as } = await exported()
    const { envelopes } = await as('auditor').history('limit=1000')
    const getKind = (id: unknown) => envelopes.find((each) => each.id === id)?.kind
    const linked = (column: string) =>
      db
        .prepare<[], string>(`SELECT ${column} FROM reasoning_steps WHERE ${column} IS NOT NULL`)
        .pluck()
        .all()
    expect(new Set(linked('linked_tool_call').map(getKind))).toEqual(new Set(['mcp.request']))
    expect(new Set(linked('linked_policy_decision').map(getKind))).toEqual(new Set(['system.decision']))
    expect(linked('linked_approval_request')).toEqual([])
  })

  test('has no more than its reader may read', async () => {
    const { ...space } = await exported()
    const path = exportFile()
    await exportTo(path, space, 'stranger')
    const served = await readSteps(space, 'stranger')
    expect(readRows(path).steps.map((row) => (row as { id: string }).id)).toEqual(served.map(({ id }) => id))
    expect(served.length).toBeLessThan((await readSteps(space, 'auditor')).length)
  })

  test('reads a long audit page by page', async () => {
    const space = await staged()
    await space.say(['ben', begin('run', undefined, 'begin')])
    for (let part = 0; part < 9; part++) {
      const thoughts = Array.from({ length: 90 }, (_, index) =>
        thought('run', `thought ${90 * part + index}`),
      )
      await space.say(['ben', ...thoughts])
    }
    const path = exportFile()
    expect(await exportTo(path, space, 'auditor')).toMatch(/: 81\d steps and 1 turn added\n$/)
    const contents = openFile(path)
      .prepare<[], string>(
        "SELECT content FROM reasoning_steps WHERE content LIKE 'thought%' ORDER BY step_number",
      )
      .pluck()
      .all()
    expect(contents).toEqual(Array.from({ length: 810 }, (_, index) => `thought ${index}`))
  })
})

describe('an export to a file that has one', () => {
  test.for(kinds)('adds what is new, and tells how the turns ended: %s', async (kind) => {
    const space = await staged(kind)
    const [question, thoughts, ...rest] = twoCalls('a')
    if (question === undefined || thoughts === undefined) throw new Error('there are no such calls')
    await space.say(question, thoughts)
    const path = exportFile()
    await exportTo(path, space, 'auditor')
    const before = readRows(path)
    expect(before.turns).toMatchObject([{ state: 'running' }])
    expect(await exportTo(path, space, 'auditor')).toBe(`${path}: 0 steps and 0 turns added\n`)
    expect(readRows(path)).toEqual(before)

    await space.say(...rest, ...twoCalls('b'))
    expect(await exportTo(path, space, 'auditor')).toMatch(/: \d+ steps and 1 turn added\n$/)
    const after = readRows(path)
    expect(after.steps.slice(0, before.steps.length)).toEqual(before.steps)
    expect(after.turns).toMatchObject([{ state: 'completed' }, { state: 'completed' }])
    const fresh = exportFile()
    await exportTo(fresh, space, 'auditor')
    expect(readRows(fresh)).toEqual(after)
  })

  test('adds what has become readable meanwhile, each with a number of its own', async () => {
    const space = await staged()
    const hide = { kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: false } }
    await space.say(
      ['ana', chat('ask', 'go')],
      ['ben', begin('run', 'ask', ''), hide, thought('run', 'hidden'), call('c', 'run', 'look', 'why')],
      ['tool', result('c', 'seen')],
    )
    const path = exportFile()
    await exportTo(path, space, 'auditor')
    expect(readRows(path).steps).toMatchObject([{ step_number: 0, content: 'look -> seen' }])
    await space.say(['ben', conclude('run'), chat('is', 'done', { correlationId: 'ask' })])
    await exportTo(path, space, 'auditor')
    expect(readRows(path).steps).toMatchObject([
      { step_number: 1, content: 'hidden' },
      { step_number: 0, content: 'look -> seen' },
    ])
  })

  verifies('A22', 'writes a turn whole or not at all, and goes on where it was cut off', async () => {
    const space = await staged()
    await space.say(...twoCalls('a'))
    const path = exportFile()
    await exportTo(path, space, 'auditor')
    const before = readRows(path)
    await space.say(...twoCalls('b'))
    const db = openFile(path)
    db.exec(`CREATE TRIGGER half_way BEFORE INSERT ON reasoning_steps WHEN NEW.content = 'now'
      BEGIN SELECT RAISE(ABORT, 'the power went'); END`)
    await expect(exportTo(path, space, 'auditor')).rejects.toThrow('the power went')
    expect(readRows(path)).toEqual(before)
    db.exec('DROP TRIGGER half_way')
    await exportTo(path, space, 'auditor')
    const fresh = exportFile()
    await exportTo(fresh, space, 'auditor')
    expect(readRows(path)).toEqual(readRows(fresh))
  })

  verifies(
    'A17',
    'removes steps older than 30 days where it is told to, says how many, and leaves them out',
    async () => {
      const clock = new FakeClock()
      const space = await stage({ clock })
      const day = 86_400_000
      const think = (message: string) => space.say(['ben', thought('aside', message)])
      await think('of 31 days ago')
      clock.advance(2 * day)
      await think('of 29 days ago')
      clock.advance(29 * day)
      await think('of today')
      vi.useFakeTimers({ toFake: ['Date'], now: clock.now() })
      onTestFinished(() => void vi.useRealTimers())
      const path = exportFile()
      await exportTo(path, space, 'auditor')
      const contents = () => readRows(path).steps.map((row) => (row as { content: string }).content)
      expect(contents()).toEqual(['of 31 days ago', 'of 29 days ago', 'of today'])
      const said = await exportTo(path, space, 'auditor', { keepDays: '30' })
      expect(said).toBe(`${path}: 0 steps and 0 turns added; 1 old step removed\n`)
      expect(contents()).toEqual(['of 29 days ago', 'of today'])
      expect(openFile(path).prepare('SELECT * FROM prunings').all()).toEqual([
        { before: '2026-01-02T00:00:00.000Z', steps: 1, pruned_at: '2026-02-01T00:00:00.000Z' },
      ])
      await exportTo(path, space, 'auditor')
      expect(contents()).toEqual(['of 29 days ago', 'of today'])
    },
  )
})

describe('the page about it', () => {
  const page = readFileSync(join(repositoryRoot, 'docs/audit.md'), 'utf8')

  test('has queries that find something', async () => {
    const { db } = await exported()
    const turn = db.prepare<[], string>('SELECT max(turn_id) FROM reasoning_steps').pluck().get() ?? ''
    const [snippet] = snippetsOf('docs/audit.md').filter(({ file }) => file === 'audit.sql')
    const queries =
      snippet?.text
        .replace(/[0-9A-Z]{26}/, turn)
        .split(';')
        .slice(0, -1) ?? []
    expect(queries).toHaveLength(3)
    db.exec(
      `INSERT INTO reasoning_steps (id, turn_id, step_number, phase, content) VALUES ('x', '${turn}', 99, 'error', 'no')`,
    )
    for (const query of queries) expect(db.prepare(query).all(), query).not.toEqual([])
  })

  test('tells every table and column', async () => {
    const { db } = await exported()
    const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
    expect(tables.sort()).toEqual(['exported_log', 'prunings', 'reasoning_steps', 'turns'])
    for (const table of tables) {
      const [, served = ''] = new RegExp(`^\\| \`${table}\` +\\|[^|]*\\|(.*)\\|$`, 'm').exec(page) ?? []
      const columns = db.prepare<[], string>(`SELECT name FROM pragma_table_info('${table}')`).pluck().all()
      expect([table, served.match(/(?<=`)\w+(?=`)/g)?.filter((name) => name !== 'NULL')]).toEqual([
        table,
        columns,
      ])
    }
  })
})

const readSession = (db: Database.Database): string =>
  db.prepare<[], string>('SELECT session_id FROM exported_log').pluck().get() ?? ''
const byId = (one: { id: string }, other: { id: string }): number => (one.id < other.id ? -1 : 1)

/** SQLite's query plans for the queries that `ask` runs. */
function plan(db: Database.Database, ask: (log: ReasoningLog) => unknown): string {
  const prepared: string[] = []
  const listening = Object.assign(Object.create(db) as Database.Database, {
    prepare: (sql: string) => {
      prepared.push(sql)
      return db.prepare(sql)
    },
    transaction: db.transaction.bind(db),
  })
  const log = new ReasoningLog(listening)
  prepared.length = 0
  ask(log)
  return prepared
    .flatMap((sql) => {
      const explained = db.prepare<unknown[], { detail: string }>(
        `EXPLAIN QUERY PLAN ${sql.replaceAll(/\?|@\w+/g, "''")}`,
      )
      return explained.all().map(({ detail }) => detail)
    })
    .join('\n')
}
