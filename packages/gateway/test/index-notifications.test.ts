import { memoryStore } from '@meup/gateway'
import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { isSoak, times } from '../../../test/support/soak.js'
import { range } from './client.js'
import { configured, type Fields, fill, participants } from './indexed.js'
import type { Stand } from './notifications.js'
import { pagesOf, standOn } from './stand.js'

interface Step {
  readonly id: string
  readonly seq: number
  readonly step_number: number
  readonly turn_number: number | null
  readonly phase: string
  readonly content: string
  readonly thread_id: string
  readonly created_at: string
  readonly timestamp: string
  readonly linked_tool_call: string | null
}
interface AuditPage {
  readonly steps: readonly Step[]
  readonly next?: number
}

const standFor = async (log: readonly Fields[]): Promise<Stand> => {
  const store = memoryStore()
  await fill(store, log)
  return standOn(store, { participants, mcp: { visibility: 'addressees' } })
}
const stepsFor = async (stand: Stand, reader: string, query: string): Promise<Step[]> =>
  (await pagesOf<AuditPage>(stand, reader, `/audit?${query}`)).flatMap(({ steps }) => steps)

const call = (id: string, from: string, to: string, tool: string): Fields => ({
  ...{ id, from, to: [to], kind: Kind.mcpRequest },
  payload: { method: 'tools/call', params: { name: tool, arguments: {} } },
})
const said = (id: string, from: string, to?: readonly string[], context = 'path'): Fields => ({
  ...{ id, from, kind: Kind.reasoningThought, context, payload: { message: id } },
  ...(to && { to: [...to] }),
})

describe('a reader who may read a part of it', () => {
  test('is told of an answer to several calls what came of its own', async () => {
    const result = { result: { content: [{ type: 'text', text: 'done' }] } }
    const stand = await standFor([
      call('a', 'ana', 'cleo', 'open-tool'),
      call('b', 'ben', 'cleo', 'secret-tool'),
      { id: 'both', from: 'cleo', kind: Kind.mcpResponse, correlationId: ['b', 'a'], payload: result },
    ])
    const toolsFor = async (reader: string): Promise<unknown> =>
      (await stepsFor(stand, reader, 'limit=9')).map(({ content, linked_tool_call }) => [
        content,
        linked_tool_call,
      ])
    expect(await toolsFor('ana')).toEqual([['open-tool -> done', 'a']])
    expect(await toolsFor('ben')).toEqual([['secret-tool -> done', 'b']])
    expect(await toolsFor('cleo')).toEqual([
      ['open-tool -> done', 'a'],
      ['secret-tool -> done', 'b'],
    ])
    expect(await toolsFor('dora')).toEqual([])
  })

  test.for([30, 5000])(
    'of a turn of %i envelopes is told numbers and times of what it may read',
    async (count) => {
      const isShown = (at: number): boolean => at > 3 && at % 7 === 0
      const stand = await standFor(
        range(1, count).map((at) => said(`t${at}`, 'ana', isShown(at) ? undefined : ['ben'])),
      )
      const page = async (reader: string, limit: number): Promise<AuditPage> =>
        (await (await stand.get(reader, `/audit?limit=${limit}`)).json()) as AuditPage
      const { steps: newest } = await page('dora', 3)
      const shown = range(1, count).filter(isShown)
      expect(newest.map(({ content, step_number }) => [content, step_number])).toEqual(
        range(1, 3).map((back) => [`t${shown.at(-back)}`, shown.length - back]),
      )
      expect(new Set(newest.map(({ timestamp }) => timestamp))).toEqual(new Set(['2026-02-21T00:00:08.000Z']))
      const { steps: all } = await page('ben', 2)
      expect(all.map(({ step_number }) => step_number)).toEqual([count - 1, count - 2])
    },
  )
})

describe('every filter of the audit', () => {
  const kinds = ['so be it', '1. look\n2. tell', 'it failed', 'hm\n- a\n[計画] b']
  const log: Fields[] = range(1, 400).flatMap((at): Fields[] => {
    const from = ['ana', 'ben', 'cleo'][at % 3] ?? ''
    if (at % 40 === 0) return [{ ...call(`c${at}`, from, 'dora', 'look'), context: `p${at % 3}` }]
    if (at % 40 === 1 && at > 1) {
      const payload = at % 80 === 1 ? { error: { code: 1, message: 'no' } } : { result: {} }
      return [{ from: 'dora', kind: Kind.mcpResponse, correlationId: `c${at - 1}`, payload }]
    }
    if (at % 50 === 7) return [{ from, kind: Kind.chat, payload: { message: 'go' }, id: `q${at}` }]
    if (at % 50 === 8)
      return [{ id: `r${at}`, from, kind: Kind.reasoningStart, correlationId: `q${at - 1}`, payload: {} }]
    const context = at % 50 > 8 && at % 50 < 20 ? `r${at - (at % 50) + 8}` : `p${at % 3}`
    return [{ from, kind: Kind.reasoningThought, context, payload: { message: kinds[at % kinds.length] } }]
  })
  const at = (seq: number): string => new Date(Date.UTC(2026, 1, 21) + seq * 1000).toISOString()
  const queries: Record<string, (step: Step) => boolean> = {
    '': () => true,
    'phase=error': ({ phase }) => phase === 'error',
    'phase=plan': ({ phase }) => phase === 'plan',
    'phase=execute': ({ phase }) => phase === 'execute',
    'phase=thinking': ({ phase }) => phase === 'thinking',
    'phase=waiting_approval': () => false,
    'from=ben': ({ thread_id }) => thread_id === 'test/ben',
    'from=ana,cleo': ({ thread_id }) => thread_id !== 'test/ben',
    'from=dora': () => false,
    'from=ben&phase=error': ({ phase, thread_id }) => phase === 'error' && thread_id === 'test/ben',
    'thread_id=test/cleo': ({ thread_id }) => thread_id === 'test/cleo',
    'thread_id=test/cleo&turn=1': ({ thread_id, turn_number }) =>
      thread_id === 'test/cleo' && turn_number === 1,
    'thread_id=test/cleo&turn=1&phase=plan': ({ thread_id, turn_number, phase }) =>
      thread_id === 'test/cleo' && turn_number === 1 && phase === 'plan',
    'thread_id=test/cleo&turn=99': () => false,
    [`since=${at(100)}`]: ({ created_at }) => created_at >= at(100),
    [`until=${at(100)}`]: ({ created_at }) => created_at < at(100),
    [`since=${at(100)}&until=${at(200)}&phase=plan`]: ({ created_at, phase }) =>
      created_at >= at(100) && created_at < at(200) && phase === 'plan',
    [`since=${at(5000)}`]: () => false,
  }
  test('gives over all pages what filtering by hand gives, whatever the limit', async () => {
    const stand = await standFor(log)
    const all = await stepsFor(stand, 'dora', 'limit=1000')
    expect(all.length).toBeGreaterThan(400)
    const ids = all.map(({ id }) => id)
    expect(ids).toEqual([...ids].sort().reverse())
    for (const [query, isAsked] of Object.entries(queries)) {
      const expected = all.filter(isAsked)
      for (const limit of isSoak || query === '' ? [1, 2, 7, 100] : [3, 100]) {
        const pages = await pagesOf<AuditPage>(stand, 'dora', `/audit?limit=${limit}&${query}`)
        const found = pages.flatMap(({ steps }) => steps)
        expect([query, limit, found]).toEqual([query, limit, expected])
        // A page may have more steps than `limit`, because those of one envelope are never split, but not more envelopes.
        for (const { steps } of pages)
          expect(new Set(steps.map(({ seq }) => seq)).size).toBeLessThanOrEqual(limit)
      }
    }
  })
})

test('a filter that matches nothing in a large log is answered piece by piece', async () => {
  const total = times(25_000, 50_000)
  const log = range(1, total).map(
    (at): Fields => ({
      ...(at === 5 ? { from: 'ben' } : { from: 'ana' }),
      ...{ kind: Kind.reasoningThought, context: 'path', payload: { message: 'hm' } },
    }),
  )
  const stand = await standFor(log)
  await stand.get('dora', '/audit?limit=1')
  for (const query of [
    'from=cleo',
    'from=ben',
    'phase=error',
    'from=ben&phase=plan',
    'thread_id=test/cleo',
  ]) {
    let longest = 0
    let last = performance.now()
    const watch = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    const pages = await pagesOf<AuditPage>(stand, 'dora', `/audit?${query}`)
    clearInterval(watch)
    const found = pages.flatMap(({ steps }) => steps)
    expect([query, found.map(({ seq }) => seq)]).toEqual([query, query === 'from=ben' ? [6] : []])
    expect(pages.length).toBeLessThan(10)
    expect(longest).toBeLessThan(2000)
  }
})

test('an audit of results of the largest size has their beginnings', async () => {
  const text = 'word '.repeat((4 * 1024 * 1024 - 1000) / 5)
  const result = { result: { content: [{ type: 'text', text }] } }
  const stand = await standFor(
    range(1, 6).flatMap((at): Fields[] => [
      call(`c${at}`, 'ana', 'dora', 'read'),
      { from: 'dora', kind: Kind.mcpResponse, correlationId: `c${at}`, payload: result },
    ]),
  )
  const steps = await stepsFor(stand, 'dora', 'limit=100')
  expect(steps.map(({ linked_tool_call }) => linked_tool_call)).toEqual(range(1, 6).map((n) => `c${7 - n}`))
  for (const { content } of steps) expect(content).toMatch(/^read -> word word .{300,500}$/)
})

test('the clock of the log never goes back in steps, and the configuration makes none', async () => {
  const back = (at: number): string =>
    new Date(Date.UTC(2026, 1, 21) + (at < 10 ? 1000 + at : at) * 1000).toISOString()
  const stand = await standFor(
    range(1, 20).map((at): Fields => ({ ...said(`t${at}`, 'ana', undefined, `p${at % 3}`), ts: back(at) })),
  )
  const steps = await stepsFor(stand, 'dora', 'limit=4')
  const times = steps.map(({ created_at }) => created_at)
  expect(times).toEqual([...times].sort().reverse())
  const ids = steps.map(({ id }) => id)
  expect(ids).toEqual([...ids].sort().reverse())
  expect(configured.kind).toBe(Kind.systemSpace)
})
