import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AuditEntry, ReasoningLog } from '@meup/gateway'
import { randomDrafts } from '@meup/gateway/testing'
import { createTurnFold, type ParsedStep, type ReasoningStep } from '@meup/views'
import type Database from 'better-sqlite3'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { dump, projected } from './projected.js'

const step = (turn_id: string, step_number = 0) => ({
  turn_id,
  step_number,
  phase: 'thinking' as const,
  content: 'hm',
})

/** A file with one turn, and nothing projected. */
async function withTurn(turn = 't1') {
  const opened = await projected([])
  const { db, log } = opened
  const insert = db.prepare(
    `INSERT INTO turns (id, session_id, thread_id, timestamp, state, input_source, changed_at, record, decisions, digest)
      VALUES (?, ?, 'main/ana', ?, 'running', 'chat', ?, '{}', 0, '')`,
  )
  const begin = (id: string, session: string, timestamp: string) =>
    insert.run(id, session, timestamp, timestamp)
  begin(turn, log.epoch, '2026-01-01T00:00:00.000Z')
  return { ...opened, begin, steps: new ReasoningLog(db) }
}

describe('the table of steps', () => {
  verifies('A01', 'has the columns of the document, and takes no step of an unknown turn', async () => {
    const { db, steps } = await withTurn()
    const columns = db.prepare<[], string[]>(
      'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(\'reasoning_steps\')',
    )
    expect(columns.raw().all()).toEqual([
      ['id', 'TEXT', 1, null, 1], // A strict table lets no primary key be null.
      ['turn_id', 'TEXT', 1, null, 0],
      ['step_number', 'INTEGER', 1, null, 0],
      ['phase', 'TEXT', 1, null, 0],
      ['content', 'TEXT', 1, null, 0],
      ['linked_tool_call', 'TEXT', 0, null, 0],
      ['linked_policy_decision', 'TEXT', 0, null, 0],
      ['linked_approval_request', 'TEXT', 0, null, 0],
      ['created_at', 'TEXT', 1, "datetime('now')", 0],
    ])
    expect(() => steps.record(step('nobody'))).toThrow(/FOREIGN KEY/)
    steps.record(step('t1'))
    expect(() => db.exec("DELETE FROM turns WHERE id = 't1'")).toThrow()
  })

  verifies('A02', 'has three indexes, and the queries use them', async () => {
    const { db } = await withTurn()
    const indexes = db.prepare<[], string>(
      "SELECT name FROM pragma_index_list('reasoning_steps') WHERE origin = 'c'",
    )
    expect(indexes.pluck().all().sort()).toEqual([
      'idx_reasoning_created',
      'idx_reasoning_phase',
      'idx_reasoning_turn',
    ])
    const said: string[] = []
    const listening = Object.assign(Object.create(db) as Database.Database, {
      prepare: (sql: string) => {
        said.push(sql)
        return db.prepare(sql)
      },
    })
    const plan = (ask: (log: ReasoningLog) => unknown): string => {
      const log = new ReasoningLog(listening)
      said.length = 0
      ask(log)
      const detail = said.flatMap((sql) =>
        db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', "''")}`).all(),
      )
      return detail.map((line) => line.detail).join('\n')
    }
    expect(plan((log) => log.exportMarkdown('t1'))).toContain('USING INDEX idx_reasoning_turn (turn_id=?)')
    expect(plan((log) => log.find({ phase: 'error' }))).toContain('USING INDEX idx_reasoning_phase (phase=?)')
    expect(plan((log) => log.find({ since: '2026', until: '2027' }))).toContain(
      'USING INDEX idx_reasoning_created',
    )
    // SQLite refuses to prepare a statement that cannot use the index it names.
    expect(source('projection-removal.ts')).toContain(
      'FROM reasoning_steps rs INDEXED BY idx_reasoning_created',
    )
  })

  verifies('A16', 'takes no change, and nothing out, whoever asks; nothing in the code tries', async () => {
    const { db, projection } = await projected(randomDrafts(1, 120))
    const before = dump(db)
    expect(before.reasoning_steps?.length).toBeGreaterThan(20)
    for (const statement of [
      "UPDATE reasoning_steps SET content = 'nothing'",
      'UPDATE reasoning_steps SET step_number = 0',
      'DELETE FROM reasoning_steps',
      'DELETE FROM reasoning_steps WHERE step_number = 0',
      'INSERT OR REPLACE INTO reasoning_steps SELECT * FROM reasoning_steps LIMIT 1',
      'REPLACE INTO reasoning_steps SELECT * FROM reasoning_steps',
      'UPDATE OR REPLACE reasoning_steps SET step_number = 0',
      "UPDATE turns SET thread_id = 'main/eve'",
      'REPLACE INTO turns SELECT * FROM turns LIMIT 1',
      `REPLACE INTO turns SELECT 'other', session_id, thread_id, turn_number, timestamp, state, input_source, changed_at,
        record, decisions, last_step, previous, previous_in_thread, previous_number, digest
        FROM turns WHERE turn_number = 1`,
      'UPDATE turns SET turn_number = 7',
      'DELETE FROM turns',
    ]) {
      expect(() => db.exec(statement), statement).toThrow(/append-only/)
    }
    expect(dump(db)).toEqual(before)

    const statements = sources().flatMap(
      ([file, text]) =>
        text
          .match(/(UPDATE|DELETE FROM|REPLACE INTO) (reasoning_steps|turns)\b[^'`]*/g)
          ?.map((sql) => [file, sql]) ?? [],
    )
    expect(statements).toEqual([
      // Everything is thrown away to be made again.
      ['projection-clearing.ts', 'DELETE FROM reasoning_steps WHERE id = @id'],
      ['projection-clearing.ts', 'DELETE FROM turns WHERE id = @id'],
      ['projection-removal.ts', 'DELETE FROM reasoning_steps WHERE id = ?'],
      ['projection-removal.ts', 'DELETE FROM turns WHERE id = ?'],
      // Of a turn that goes on: the trigger refuses all other columns.
      ['turn-rows.ts', expect.stringContaining('UPDATE turns SET ')],
    ])
    await projection.prune('2026-02-21T00:01:00.000Z')
    expect(() => db.exec('DELETE FROM reasoning_steps'), 'what is younger than that').toThrow(/append-only/)
  })
})

const folder = fileURLToPath(new URL('../src/adapters/sqlite/', import.meta.url))
const source = (file: string): string => readFileSync(join(folder, file), 'utf8')
const sources = (): [file: string, text: string][] =>
  readdirSync(folder)
    .sort()
    .map((file) => [file, source(file)])

describe('ReasoningLog', () => {
  verifies('A06', 'has the methods of the document', () => {
    expectTypeOf<ConstructorParameters<typeof ReasoningLog>>().toEqualTypeOf<[db: Database.Database]>()
    expectTypeOf<ReasoningLog['record']>().returns.toEqualTypeOf<void>()
    expectTypeOf<ReasoningStep>().toExtend<Parameters<ReasoningLog['record']>[0]>()
    expectTypeOf<ReasoningLog['parseThinking']>().toEqualTypeOf<
      (turnId: string, rawThinking: string) => ParsedStep[]
    >()
    expectTypeOf<ReasoningLog['getAuditTrail']>().toEqualTypeOf<(sessionId: string) => AuditEntry[]>()
    expectTypeOf<ReasoningLog['exportMarkdown']>().toEqualTypeOf<(turnId: string) => string>()
    expect(Object.getOwnPropertyNames(ReasoningLog.prototype)).toEqual(
      expect.arrayContaining(['record', 'parseThinking', 'getAuditTrail', 'exportMarkdown']),
    )
  })

  test('parses thinking into steps that go on from those of the turn, to be recorded one by one', async () => {
    const { log, steps } = await withTurn()
    const parsed = steps.parseThinking('t1', '[思考] look around\n[計画] 1. ask')
    expect(parsed.map(({ step_number, phase }) => [step_number, phase])).toEqual([
      [0, 'thinking'],
      [1, 'plan'],
    ])
    expect(steps.getAuditTrail(log.epoch)).toEqual([])
    for (const each of parsed) steps.record(each)
    const links = { linked_tool_call: 'c1', phase: 'execute', content: 'ask -> yes' } as const
    steps.record({ ...step('t1', 2), ...links })
    expect(steps.parseThinking('t1', 'so it is')).toMatchObject([{ step_number: 3 }])
    const trail = steps.getAuditTrail(log.epoch)
    expect(trail).toMatchObject([
      { ...parsed[0], timestamp: '2026-01-01T00:00:00.000Z', state: 'running', input_source: 'chat' },
      parsed[1] ?? {},
      links,
    ])
    const ids = trail.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
    expect(steps.exportMarkdown('t1')).toBe(
      '## Turn t1 (2026-01-01T00:00:00.000Z)\n\n[思考] look around\n\n[計画] 1. ask\n\n[実行] ask -> yes (tool_call: c1)\n',
    )
    expect(() => steps.exportMarkdown('t2')).toThrow('there is no turn t2')
  })

  verifies('A18', 'gives the trail of one session, in the order of its turns and their steps', async () => {
    const { log, begin, steps } = await withTurn('b')
    begin('a', 'another session', '2026-01-01T00:00:01.000Z')
    begin('c', log.epoch, '2025-12-31T00:00:00.000Z')
    for (const [turn, number] of [
      ['b', 1],
      ['a', 0],
      ['c', 0],
      ['b', 0],
      ['a', 1],
      ['c', 1],
    ] as const) {
      steps.record(step(turn, number))
    }
    const placesIn = (session: string) =>
      steps.getAuditTrail(session).map((each) => [each.turn_id, each.step_number])
    expect(placesIn(log.epoch)).toEqual([
      ['c', 0],
      ['c', 1],
      ['b', 0],
      ['b', 1],
    ])
    expect(placesIn('another session')).toEqual([
      ['a', 0],
      ['a', 1],
    ])
    expect(steps.getAuditTrail('no session')).toEqual([])
    const [first] = steps.getAuditTrail(log.epoch)
    expect(Object.keys(first ?? {}).slice(-3)).toEqual(['timestamp', 'state', 'input_source'])
  })

  verifies('A19', 'finds steps by time, by session and by phase, across turns', async () => {
    const { log, begin, steps } = await withTurn()
    begin('t2', 'another session', '2026-01-01T00:00:01.000Z')
    const at = (time: string, turn: string, phase: 'plan' | 'error') =>
      steps.record({ ...step(turn), phase, content: time, created_at: `2026-01-0${time}T00:00:00.000Z` })
    at('1', 't1', 'plan')
    at('2', 't2', 'error')
    at('3', 't1', 'error')
    at('4', 't2', 'plan')
    const found = (filter: Parameters<ReasoningLog['find']>[0]) =>
      steps
        .find(filter)
        .map(({ content }) => content)
        .sort()
    expect(found({})).toEqual(['1', '2', '3', '4'])
    expect(found({ since: '2026-01-02T00:00:00.000Z' })).toEqual(['2', '3', '4'])
    expect(found({ until: '2026-01-02T00:00:00.000Z' })).toEqual(['1'])
    expect(found({ phase: 'error' })).toEqual(['2', '3'])
    expect(found({ sessionId: log.epoch, phase: 'error', since: '2026-01-02T00:00:00.000Z' })).toEqual(['3'])
  })

  verifies('A21', 'tells the whole chain of a session, as it was lived', async () => {
    const drafts = randomDrafts(3, 300)
    const { log, db } = await projected(drafts)
    const lived: ReasoningStep[] = []
    const turns = new Set<string>()
    const fold = createTurnFold({ space: 'main', epoch: log.epoch })
    for (const { seq, body } of drafts) {
      const change = fold.apply({ ...JSON.parse(Buffer.from(body).toString()), seq })
      lived.push(...change.steps)
      for (const { id } of change.turns) turns.add(id)
    }
    const steps = new ReasoningLog(db)
    const trail = steps.getAuditTrail(log.epoch)
    const inOrder = [...turns].sort()
    const expected = inOrder.flatMap((id) => lived.filter(({ turn_id }) => turn_id === id))
    expect(trail.map(({ timestamp, state, input_source, ...row }) => row)).toEqual(
      expected.map(({ source: _, ...row }) => row),
    )
    const markdown = inOrder.map((id) => steps.exportMarkdown(id))
    expect(markdown.join('').match(/^## Turn \S+/gm)).toEqual(inOrder.map((id) => `## Turn ${id}`))
  })
})
