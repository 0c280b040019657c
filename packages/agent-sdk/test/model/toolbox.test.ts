import { Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { expect, test } from 'vitest'
import { answering, type Stage, stage } from './stage.js'

const offered = ({ model }: Stage, index = 0): (string | undefined)[] =>
  model.requests[index]?.tools?.map(({ name }) => name) ?? []
const always = () => answering('done')

test('the tools of all others are offered, with what they say of themselves', async () => {
  await using here = await stage(always, { tools: ['*/*'] })
  here.bob.tool('paint', { description: 'Paints', input: Type.Object({ colour: Type.String() }) }, () => 'ok')
  here.bot.tool('mine', {}, () => 'ok')
  await here.ask()
  expect(offered(here)).toEqual(['bob__paint', 'desk__add', 'desk__look'])
  expect(here.model.requests[0]?.tools?.[0]).toMatchObject({
    description: 'Paints',
    inputSchema: { type: 'object', required: ['colour'], properties: { colour: { type: 'string' } } },
  })
})

test('only those that were chosen', async () => {
  const known = { participant: 'attic', name: 'find', inputSchema: { type: 'object' } }
  await using here = await stage(always, { tools: ['desk/look', 'bob', known] })
  here.bob.tool('paint', {}, () => 'ok')
  await here.ask()
  expect(offered(here)).toEqual(['attic__find', 'bob__paint', 'desk__look'])
})

test('they are asked for once, and again when they change or their owner comes anew', async () => {
  await using here = await stage(always)
  const listings = () =>
    here.heard.all.filter((each) => each.kind === Kind.mcpRequest && each.payload.method === 'tools/list')
      .length
  await here.ask()
  await here.ask()
  expect(listings()).toBe(1)
  here.desk.tool('third', {}, () => 'ok')
  const payload = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }
  await here.desk.send({ kind: 'mcp.request', payload })
  await here.ask()
  expect(listings()).toBe(2)
  expect(offered(here, 2)).toEqual(['desk__add', 'desk__look', 'desk__third'])
})

test('their names are such as every provider accepts, and tell them apart', async () => {
  await using here = await stage(always)
  const long = 'x'.repeat(80)
  for (const name of ['a.b', 'a/b', 'ü', long, `${long}2`]) here.desk.tool(name, {}, () => name)
  await here.ask()
  const names = offered(here)
  expect(names).toHaveLength(7)
  expect(new Set(names).size).toBe(7)
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/)
  expect(names).toContain('desk__a_b_2')
})

test.for([
  ['256 of them', Array.from({ length: 50_000 }, (_, n) => ({ name: `x${n}` })), 256],
  ['one of each name', Array.from({ length: 5000 }, () => ({ name: 'x' })), 1],
  [
    '256 KiB of them',
    Array.from({ length: 9 }, (_, n) => ({ name: `x${n}`, description: 'x'.repeat(60_000) })),
    4,
  ],
] as const)('of one participant they are %s at most', async ([, tools, maxCount]) => {
  await using here = await stage(always, { tools: ['*/*'] })
  here.bob.serve(async () => ({ result: { tools } }))
  await here.ask()
  const names = offered(here)
  expect(names.filter((name) => name?.startsWith('bob__'))).toHaveLength(maxCount)
  expect(names.slice(maxCount)).toEqual(['desk__add', 'desk__look'])
  expect(here.troubles).toHaveLength(maxCount === 1 ? 0 : 1)
})

test('a name leads to the tool that it was made of', async () => {
  await using here = await stage([[{ call: 'desk__a_b_2', input: {} }], answering('done')])
  const called: string[] = []
  for (const name of ['a.b', 'a/b']) here.desk.tool(name, {}, () => void called.push(name))
  await here.ask()
  expect(called).toEqual(['a/b'])
})
