import type { AnyEnvelope, ParticipantDetails } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import type { ProgramReports } from '../src/lib/control-client.js'
import { SpaceMonitor } from '../src/top/space-monitor.js'
import { renderTop } from '../src/top/top-screen.js'
import { describeWork, workTable } from '../src/top/work-table.js'

const now = Date.parse('2026-01-02T03:04:05Z')
const ago = (ms: number): string => new Date(now - ms).toISOString()
let ids = 0
const envelope = (kind: string, from: string, ms: number, fields: object = {}): AnyEnvelope =>
  ({ kind, from, id: `e${++ids}`, seq: ids, ts: ago(ms), payload: {}, ...fields }) as AnyEnvelope
const chat = (from: string, ms: number, message = 'hi') =>
  envelope('chat', from, ms, { payload: { message } })
const conclusion = (from: string, ms: number, tokens: unknown) =>
  envelope('reasoning.conclusion', from, ms, { context: 'r', payload: { metadata: { tokens } } })
const participant = (id: string, fields: object = {}): ParticipantDetails =>
  ({ id, kind: 'agent', status: 'present', capabilities: [], ...fields }) as unknown as ParticipantDetails
const none: ProgramReports = new Map()

describe('who does how much', () => {
  test('is counted over ten seconds, a minute and an hour', () => {
    const monitor = new SpaceMonitor()
    for (const ms of [20_000, 9000, 8000, 1000]) monitor.apply(chat('bot', ms))
    const call = { to: ['files'], payload: { method: 'tools/call', params: { name: 'read' } } }
    for (const ms of [61_000, 30_000, 500]) monitor.apply(envelope('mcp.request', 'bot', ms, call))
    monitor.apply(conclusion('bot', 3_700_000, { input: 1, output: 1 }))
    monitor.apply(conclusion('bot', 600_000, { input: 1000, output: 200 }))
    monitor.apply(conclusion('bot', 0, { input: 'x', output: -4 }))
    const [bot] = monitor.list([participant('bot')], { thinking: [], waiting: new Set() }, now)
    expect(bot).toMatchObject({ messagesPerSecond: 0.5, callsPerMinute: 2, tokensPerHour: 1200 })
    expect(bot?.last).toBe('→ read {}')
    monitor.apply(envelope('chat', 'bot', 0, { payload: { message: 'hi', mentions: ['ana'] } }))
    expect(monitor.list([participant('bot')], { thinking: [], waiting: new Set() }, now)[0]?.last).toBe(
      '"hi"',
    )
  })

  test('puts the busy first, then those who think, fail or have spent', () => {
    const monitor = new SpaceMonitor()
    for (let at = 0; at < 100; at++) monitor.apply(chat('wild', at * 50))
    monitor.apply(conclusion('spender', 60_000, { input: 10, output: 0 }))
    const all = [
      participant('away', { status: 'away' }),
      participant('ana'),
      participant('spender'),
      participant('broken', { program: { state: 'failed', count: 3 } }),
      participant('thinker'),
      participant('wild'),
    ]
    const thinking = [{ agent: 'thinker', runs: 2, since: now - 5000 }]
    const listed = monitor.list(all, { thinking, waiting: new Set(['thinker']) }, now)
    expect(listed.map(({ id }) => id)).toEqual(['wild', 'thinker', 'broken', 'spender', 'ana', 'away'])
    expect(listed[1]).toMatchObject({ runs: 2, thinksSince: now - 5000, isWaiting: true })
    expect(listed[0]).not.toHaveProperty('isWaiting')
  })

  test('is said with since when, and what comes next', () => {
    const work = {
      id: 'x',
      kind: 'agent',
      runs: 0,
      messagesPerSecond: 0,
      callsPerMinute: 0,
      tokensPerHour: 0,
      last: '',
    }
    const program = { space: 's', participant: 'x', state: 'failed', count: 3, since: ago(240_000) }
    const state = (name: string, text: string) => ({ name, text }) as never
    const here = { ...work, state: state('here', 'here') }
    expect(describeWork(here, undefined, now)).toBe('here')
    expect(describeWork({ ...here, runs: 1, thinksSince: now - 2100 }, undefined, now)).toBe('thinks 2 s')
    expect(describeWork({ ...here, runs: 1, isWaiting: true }, undefined, now)).toBe('waits for a decision')
    expect(describeWork({ ...here, runs: 127, thinksSince: now }, undefined, now)).toBe('thinks 127 runs')
    const starting = { ...work, state: state('starting', 'starting') }
    expect(describeWork(starting, program, now)).toBe('starting for 4 min')
    const failed = { ...work, state: state('failed', 'failed (3×)') }
    expect(describeWork(failed, { ...program, nextTry: new Date(now + 7600).toISOString() }, now)).toBe(
      'failed (3×), next try in 8 s',
    )
  })
})

describe('the screen of top', () => {
  const crowd = (count: number) => {
    const monitor = new SpaceMonitor()
    const ids = Array.from({ length: count }, (_, at) => `agent-${String(at).padStart(2, '0')}`)
    for (const id of ids) monitor.apply(chat(id, 1000, `I am ${id}, and say a good deal more than fits`))
    return monitor.list(
      ids.map((id) => participant(id)),
      { thinking: [], waiting: new Set() },
      now,
    )
  }
  const draw = (count: number, [columns, rows]: readonly [number, number], selected?: string) =>
    renderTop(
      {
        heading: 'lab · 5.0/s · http://127.0.0.1:8080',
        work: crowd(count),
        programs: none,
        selected,
        footer: 'keys',
      },
      { columns, rows, now, mark: (text) => text },
    )

  test.for([
    [80, 24],
    [100, 30],
    [40, 20],
    [20, 10],
    [20, 3],
  ] as const)('fits 50 participants into %j, with the one that is chosen', ([columns, rows]) => {
    for (const selected of ['agent-00', 'agent-25', 'agent-49']) {
      const lines = draw(50, [columns, rows], selected)
      expect(lines).toHaveLength(rows)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
      expect(lines.at(-1)).toBe('keys')
      if (rows > 3) expect(lines.filter((line) => line.startsWith(`▶ ${selected}`))).toHaveLength(1)
    }
  })

  test('says how many more there are', () => {
    expect(draw(50, [80, 24], 'agent-00').at(-2)).toBe('  … 30 more')
    expect(draw(5, [80, 24], 'agent-00').join('\n')).not.toContain('more')
  })

  test('cuts a long state only where there is no room for it', () => {
    const resting = participant('broken', { program: { state: 'resting', count: 1 } })
    const all = new SpaceMonitor().list([resting], { thinking: [], waiting: new Set() }, now)
    const report = { space: 's', participant: 'broken', state: 'resting', count: 1, since: ago(0) }
    const programs = new Map([['broken', { ...report, lastError: 'exit 1, agent.ts:4:1: no' }]])
    const row = (width: number) => workTable(all, programs, { width, now })[1]
    expect(row(200)).toContain('  resting after 1 failure: meup restart broken  ')
    expect(row(200)).toMatch(/ {2}exit 1, agent\.ts:4:1: no$/)
    expect(row(100)).toMatch(/resting after 1 failure: meup restart \S*… .* exit 1, agent\S*…$/)
    expect(row(80)?.length).toBeLessThanOrEqual(80)
  })

  test('gives up columns where there is no room', () => {
    const titles = (width: number): string => workTable([], none, { width, now })[0] ?? ''
    expect(titles(100)).toBe('WHO           STATE                     MSG/S  CALLS/MIN  TOKENS/H  LAST')
    expect(titles(78)).toBe('WHO           STATE                     MSG/S  CALLS/MIN  TOKENS/H')
    expect(titles(56)).toBe('WHO           STATE                     MSG/S  TOKENS/H')
    expect(titles(38)).toBe('WHO           STATE')
    expect(titles(14)).toBe('WHO')
  })
})
