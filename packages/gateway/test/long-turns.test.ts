import type { TurnInfo } from '@meup/folds'
import { memoryStore } from '@meup/gateway'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { range } from './client.js'
import { type Fields, fill, participants } from './indexed.js'
import type { Stand } from './notifications.js'
import { pagesOf, standOn } from './stand.js'

const standFor = async (log: readonly Fields[]): Promise<Stand> => {
  const store = memoryStore()
  await fill(store, log)
  return standOn(store, { participants })
}

const ask: Fields = { id: 'ask', from: 'ana', kind: Kind.chat, payload: { message: 'do' } }
const run: Fields = {
  ...{ id: 'run', from: 'ben', kind: Kind.reasoningStart, correlationId: 'ask' },
  payload: { message: 'I do' },
}
const why: Fields = {
  ...{ from: 'ben', kind: Kind.reasoningThought, context: 'run' },
  payload: { message: 'because of this' },
}
const call = (n: number): Fields => ({
  ...{ id: `c${n}`, from: 'ben', to: ['cleo'], kind: Kind.mcpRequest, context: 'run' },
  payload: { method: 'tools/call', params: { name: `tool-${n}`, arguments: {} } },
})
const result = (n: number): Fields => ({
  ...{ from: 'cleo', to: ['ben'], kind: Kind.mcpResponse, correlationId: `c${n}` },
  payload: { result: { content: [{ type: 'text', text: 'done' }] } },
})
const aside: Fields = {
  ...{ from: 'ben', kind: Kind.reasoningThought, context: 'run', to: ['ana'] },
  payload: { message: 'between us' },
}
const thought = (n: number): Fields => ({
  ...{ from: 'ben', kind: Kind.reasoningThought, context: 'run', payload: { message: `then ${n}` } },
})

/** All pages of calls of ben's only turn. */
async function callPages({ get }: Stand, reader: string): Promise<TurnInfo[]> {
  const pages: TurnInfo[] = []
  for (let place = ''; ; ) {
    const answer = await get(reader, `/turns?thread_id=test/ben${place}`)
    const { turns } = (await answer.json()) as { turns: TurnInfo[] }
    const [turn] = turns
    if (turn === undefined) throw new Error(`there is no turn with ${place}`)
    pages.push(turn)
    if (turn.next === undefined) return pages
    place = `&calls_before=${turn.next}`
  }
}

const namesIn = (pages: readonly TurnInfo[]): string[] =>
  pages.toReversed().flatMap(({ tool_calls }) => tool_calls.map(({ name }) => name))

const names = (count: number): string[] => range(1, count).map((n) => `tool-${n}`)

test('a turn tells its latest 500 calls, and where to ask for those before', async () => {
  const stand = await standFor([ask, run, ...range(1, 600).map(call)])
  const pages = await callPages(stand, 'dora')
  expect(pages.map(({ tool_calls }) => tool_calls.length)).toEqual([500, 100])
  expect(namesIn(pages)).toEqual(names(600))
})

test('a turn with fewer calls tells all of them', async () => {
  const stand = await standFor([ask, run, ...range(1, 500).map(call)])
  const [page] = await callPages(stand, 'dora')
  expect([page?.tool_calls.length, page?.next]).toEqual([500, undefined])
})

test('each page of a long turn tells the same of it, and together they tell each call once, with what came of it', async () => {
  const steps = range(1, 1500).flatMap((n) => [call(n), thought(n)])
  // Results of the first calls, logged after all others.
  const late = range(1, 50).map(result)
  const rest = range(51, 1500).map(result)
  const stand = await standFor([ask, run, why, ...steps, ...rest, ...late])
  const pages = await callPages(stand, 'dora')
  expect(Math.max(...pages.map(({ tool_calls }) => tool_calls.length))).toBeLessThanOrEqual(500)
  expect(namesIn(pages)).toEqual(names(1500))
  const calls = pages.flatMap(({ tool_calls }) => tool_calls)
  expect(calls.every(({ has_result }) => has_result)).toBe(true)
  for (const { turn_number, state, started_at, user_input, reasoning } of pages) {
    expect([turn_number, state, user_input]).toEqual([1, 'running', 'do'])
    expect([started_at, reasoning?.narrative]).toEqual([pages[0]?.started_at, 'because of this'])
  }
})

test('what may not be read of a long turn changes none of its pages', async () => {
  const logOf = (hidden: Fields): Fields[] => [
    ...[ask, run, why],
    ...range(1, 700).flatMap((n) => [call(n), hidden, hidden, result(n)]),
  ]
  const others: Fields = { from: 'ana', kind: 'x.other', to: ['ana'], payload: {} }
  const [real, other] = [await standFor(logOf(aside)), await standFor(logOf(others))]
  const seen = await callPages(real, 'dora')
  expect(seen.length).toBeGreaterThan(1)
  const strip = (pages: readonly TurnInfo[]): unknown =>
    pages.map(({ reasoning, ...turn }) => ({ ...turn, reasoning: reasoning?.tool_decisions }))
  expect(strip(seen)).toEqual(strip(await callPages(other, 'dora')))
  const audit = async (stand: Stand): Promise<unknown> => {
    const answer = await stand.get('dora', '/audit?limit=20')
    const { steps, ...page } = (await answer.json()) as { steps: { step_number: number; seq: number }[] }
    return [page, steps.map(({ step_number, seq }) => [step_number, seq])]
  }
  expect(await audit(real)).toEqual(await audit(other))
})

test('one request for steps folds about 1,500 envelopes, then says where to go on', async () => {
  const turns = range(1, 12).flatMap((turn): Fields[] => [
    { ...ask, id: `ask${turn}` },
    { ...run, id: `run${turn}`, correlationId: `ask${turn}` },
    ...range(1, 400).map(
      (n): Fields => ({ from: 'ben', kind: 'chat', context: `run${turn}`, payload: { message: `${n}` } }),
    ),
    ...range(1, 10).map((n) => ({ ...thought(n), context: `run${turn}` })),
  ])
  const stand = await standFor([...turns])
  const pages = await pagesOf<{ steps: { content: string }[]; next?: number }>(
    stand,
    'dora',
    '/audit?limit=1000',
  )
  expect(pages.map(({ steps }) => steps.length)).toEqual([40, 40, 40])
})
