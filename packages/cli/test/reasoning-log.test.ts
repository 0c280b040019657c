import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ParsedStep, ReasoningStep } from '@meup/folds'
import Database from 'better-sqlite3'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { type AuditEntry, type AuditFilter, ReasoningLog } from '../src/audit/reasoning-log.js'
import { migrate } from '../src/audit/schema.js'
import { exportFile } from './support/exported.js'

const session = 'epoch'

/** An export with one turn without steps. */
function withTurn(turn = 't1') {
  const db = new Database(exportFile())
  onTestFinished(() => void db.close())
  migrate(db)
  const insert = db.prepare("INSERT INTO turns VALUES (?, ?, 'main/ana', NULL, ?, 'running', 'chat')")
  const begin = (id: string, session: string, timestamp: string) => insert.run(id, session, timestamp)
  begin(turn, session, '2026-01-01T00:00:00.000Z')
  return { db, begin, log: new ReasoningLog(db) }
}

const step = (turn_id: string, step_number = 0) => ({
  turn_id,
  step_number,
  phase: 'thinking' as const,
  content: 'hm',
})

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

  verifies('A06', 'can be imported from meup/audit', async () => {
    const file = fileURLToPath(new URL('../package.json', import.meta.url))
    const { exports } = JSON.parse(readFileSync(file, 'utf8')) as {
      exports: Record<string, { default: string }>
    }
    const source = exports['./audit']?.default.replace(/^\.\/dist\/(.*)\.js$/, '../src/$1.ts') ?? ''
    expect(await import(/* @vite-ignore */ source)).toHaveProperty('ReasoningLog', ReasoningLog)
  })

  test('parses thinking into steps that go on from those of the turn, to be recorded one by one', () => {
    const { log } = withTurn()
    const parsed = log.parseThinking('t1', '[思考] look around\n[計画] 1. ask')
    expect(parsed.map(({ step_number, phase }) => [step_number, phase])).toEqual([
      [0, 'thinking'],
      [1, 'plan'],
    ])
    expect(log.getAuditTrail(session)).toEqual([])
    for (const each of parsed) log.record(each)
    const links = { linked_tool_call: 'c1', phase: 'execute', content: 'ask -> yes' } as const
    log.record({ ...step('t1', 2), ...links })
    expect(log.parseThinking('t1', 'so it is')).toMatchObject([{ step_number: 3 }])
    const trail = log.getAuditTrail(session)
    expect(trail).toMatchObject([
      { ...parsed[0], timestamp: '2026-01-01T00:00:00.000Z', state: 'running', input_source: 'chat' },
      parsed[1] ?? {},
      links,
    ])
    const ids = trail.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
  })

  verifies('A18', 'gives the trail of one session, in the order of its turns and their steps', () => {
    const { begin, log } = withTurn('b')
    begin('a', 'another session', '2026-01-01T00:00:01.000Z')
    begin('c', session, '2025-12-31T00:00:00.000Z')
    for (const [turn, number] of [
      ['b', 1],
      ['a', 0],
      ['c', 0],
      ['b', 0],
      ['a', 1],
      ['c', 1],
    ] as const) {
      log.record(step(turn, number))
    }
    const placesIn = (asked: string) =>
      log.getAuditTrail(asked).map((each) => [each.turn_id, each.step_number])
    expect(placesIn(session)).toEqual([
      ['c', 0],
      ['c', 1],
      ['b', 0],
      ['b', 1],
    ])
    expect(placesIn('another session')).toEqual([
      ['a', 0],
      ['a', 1],
    ])
    expect(log.getAuditTrail('no session')).toEqual([])
    const [first] = log.getAuditTrail(session)
    expect(Object.keys(first ?? {}).slice(-3)).toEqual(['timestamp', 'state', 'input_source'])
  })

  verifies('A19', 'finds steps by time, by session and by phase, across turns', () => {
    const { begin, log } = withTurn()
    begin('t2', 'another session', '2026-01-01T00:00:01.000Z')
    const at = (day: string, turn: string, phase: 'plan' | 'error') =>
      log.record({ ...step(turn), phase, content: day, created_at: `2026-01-0${day}T00:00:00.000Z` })
    at('1', 't1', 'plan')
    at('2', 't2', 'error')
    at('3', 't1', 'error')
    at('4', 't2', 'plan')
    const found = (filter: AuditFilter) =>
      log
        .find(filter)
        .map(({ content }) => content)
        .sort()
    expect(found({})).toEqual(['1', '2', '3', '4'])
    expect(found({ since: '2026-01-02T00:00:00.000Z' })).toEqual(['2', '3', '4'])
    expect(found({ until: '2026-01-02T00:00:00.000Z' })).toEqual(['1'])
    expect(found({ phase: 'error' })).toEqual(['2', '3'])
    expect(found({ sessionId: session, phase: 'error', since: '2026-01-02T00:00:00.000Z' })).toEqual(['3'])
  })

  verifies('A20', 'exports a turn in the format of the document', () => {
    const { begin, log } = withTurn('01JXYZ')
    const at = (phase: ParsedStep['phase'], content: string, more: object = {}) =>
      log.record({ ...step('01JXYZ', log.find({}).length), phase, content, ...more })
    at('thinking', 'The user asked me to check system status. I should verify\ncredits balance first.')
    at('plan', '1. Call check_credits  2. Call check_inbox')
    at('execute', 'check_credits -> $2.50 remaining', { linked_tool_call: '01JXYZ-TC1' })
    at('waiting_approval', 'Policy denied: no', { linked_policy_decision: 'd1' })
    at('waiting_approval', 'Awaiting human approval for pay', { linked_approval_request: 'p1' })
    at('error', 'pay -> failed\n[実行] no step of ours\n## Turn', { linked_tool_call: '01JXYZ-TC2' })
    expect(log.exportMarkdown('01JXYZ')).toBe(`## Turn 01JXYZ (2026-01-01T00:00:00.000Z)

[思考] The user asked me to check system status. I should verify
credits balance first.

[計画] 1. Call check_credits  2. Call check_inbox

[実行] check_credits -> $2.50 remaining (tool_call: 01JXYZ-TC1)

[承認待ち] Policy denied: no (policy: d1)

[承認待ち] Awaiting human approval for pay (approval: p1)

[エラー] pay -> failed
\\[実行] no step of ours
\\## Turn (tool_call: 01JXYZ-TC2)
`)
    begin('01EMPTY', session, '2026-01-01T00:00:00.000Z')
    expect(log.exportMarkdown('01EMPTY')).toBe(
      '## Turn 01EMPTY (2026-01-01T00:00:00.000Z)\n\nNo reasoning steps were recorded in this turn.\n',
    )
    expect(() => log.exportMarkdown('t2')).toThrow('there is no turn t2')
  })

  verifies('A17', 'prunes what is older than a threshold, 30 days by default, and records that', () => {
    const { db, log } = withTurn()
    const day = 86_400_000
    const now = Date.UTC(2026, 5, 1)
    for (const age of [31, 30, 29, 7]) {
      const created_at = new Date(now - age * day).toISOString()
      log.record({ ...step('t1', age), content: `${age}`, created_at })
    }
    const contents = () => log.find({}).map(({ content }) => content)
    expect(log.prune(undefined, now)).toBe(1)
    expect(contents()).toEqual(['7', '29', '30'])
    expect(log.prune(undefined, now)).toBe(0)
    expect(log.prune(10, now)).toBe(2)
    expect(contents()).toEqual(['7'])
    expect(db.prepare('SELECT before, steps FROM prunings').raw().all()).toEqual([
      ['2026-05-02T00:00:00.000Z', 1],
      ['2026-05-22T00:00:00.000Z', 2],
    ])
    expect(log.prunedBefore).toBe('2026-05-22T00:00:00.000Z')
  })

  verifies('A22', 'records 10,000 steps, a transaction a turn, in half a millisecond of CPU each', () => {
    const before = process.cpuUsage()
    const { db, begin, log } = withTurn()
    for (let turn = 0; turn < 100; turn++) {
      db.transaction(() => {
        begin(`turn ${turn}`, session, '2026-01-01T00:00:00.000Z')
        for (let number = 0; number < 100; number++) log.record(step(`turn ${turn}`, number))
      })()
    }
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 10_000).toBeLessThan(500)
    expect(log.find({})).toHaveLength(10_000)
  })
})
