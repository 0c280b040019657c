import { nameTools } from '@meup/agent-sdk/internal'
import { Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { answering, type Stage, stage } from './stage.js'

const offered = ({ model }: Stage, index = 0): (string | undefined)[] =>
  model.requests[index]?.tools?.map(({ name }) => name) ?? []
const always = () => answering('done')

test('the tools of all are offered, the own ones too, with what they say of themselves', async () => {
  await using here = await stage(always, { tools: ['*/*'] })
  here.bob.tool('paint', { description: 'Paints', input: Type.Object({ colour: Type.String() }) }, () => 'ok')
  here.bot.tool('mine', {}, () => 'ok')
  await here.ask()
  expect(offered(here)).toEqual(['bob__paint', 'bot__mine', 'desk__add', 'desk__look'])
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

const [askMe = ''] = nameTools([{ participant: 'bob', name: 'ask/me' }]).keys()

describe('chosen are, of read_a, read_b, write_a and ask/me of bob and those of the desk,', () => {
  test.for<[string, string[], string[]]>([
    ['those of a pattern', ['bob/read_*'], ['bob__read_a', 'bob__read_b']],
    ['all but those of another', ['bob/*', '!bob/read_*'], [askMe, 'bob__write_a']],
    ['all but', ['!bob/*_a', '!desk'], [askMe, 'bob__read_b']],
    ['in either order', ['!*/look', '*'], [askMe, 'bob__read_a', 'bob__read_b', 'bob__write_a', 'desk__add']],
    ['as in capabilities', ['bob/!read_*', 'd?sk/re:a.*'], [askMe, 'bob__write_a', 'desk__add']],
    ['with a slash in the name', ['bob/ask/*'], [askMe]],
    ['none', [], []],
    ['none of one that is excluded whole', ['bob/*', '!bob'], []],
  ])('%s: %j', async ([, tools, names]) => {
    await using here = await stage(always, { tools, kind: 'mcp' })
    for (const name of ['ask/me', 'read_a', 'read_b', 'write_a']) here.bob.tool(name, {}, () => 'ok')
    await here.ask()
    expect(offered(here)).toEqual(names)
  })

  test('a pattern that is none ends the agent', async () => {
    await using here = await stage(always, { tools: ['desk/re:('] })
    await expect(here.ended).rejects.toMatchObject({ name: 'PatternError', path: '/tools/0' })
  })
})

test('of more than 128, each participant has its share; the operator reads the numbers once, before the first turn', async () => {
  const known = { participant: 'attic', name: 'find', inputSchema: { type: 'object' } }
  await using here = await stage(always, { tools: ['*', known] })
  for (let n = 0; n < 200; n++) {
    here.ana.tool(`a${n}`, {}, () => 'ok')
    here.bob.tool(`b${n}`, {}, () => 'ok')
  }
  const warning = { message: expect.stringMatching(/there are 40\d tools, and the model gets 128 of them/) }
  await expect.poll(() => here.troubles).toMatchObject([warning])
  await here.ask()
  await here.ask()
  const names = offered(here)
  const listFrom = (letter: string, count: number) => Array.from({ length: count }, (_, n) => `${letter}${n}`)
  expect(names).toEqual([
    'attic__find',
    ...listFrom('ana__a', 63),
    ...listFrom('bob__b', 62),
    'desk__add',
    'desk__look',
  ])
  expect(offered(here, 1)).toEqual(names)
  expect(here.troubles).toMatchObject([warning])
})

test('they are asked for once, and again when they change or their owner comes anew', async () => {
  await using here = await stage(always)
  const listings = () =>
    here.heard.all.filter((each) => each.kind === Kind.mcpRequest && each.payload.method === 'tools/list')
      .length
  await here.ask()
  await here.ask()
  expect(listings()).toBe(1)
  for (const name of ['third', 'fourth']) here.desk.tool(name, {}, () => 'ok')
  const changes = () =>
    here.heard.all.filter(
      (each) => each.kind === Kind.mcpRequest && each.payload.method === 'notifications/tools/list_changed',
    )
  await expect.poll(changes).toMatchObject([{ from: here.desk.id, to: ['bot'] }])
  await here.ask()
  expect(listings()).toBe(2)
  expect(offered(here, 2)).toEqual(['desk__add', 'desk__look', 'desk__third', 'desk__fourth'])
})

test('their names are such as every provider accepts, and tell them apart', async () => {
  await using here = await stage(always)
  const long = 'x'.repeat(80)
  for (const name of ['a.b', 'a/b', 'ü', long, `${long}2`]) here.desk.tool(name, {}, () => name)
  await here.ask()
  const names = offered(here)
  expect(names).toHaveLength(7)
  expect(new Set(names).size).toBe(7)
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,47}$/)
  expect(names[0]).toBe('desk__add')
})

test('a tool has the same name whatever else there is', () => {
  const tools = [
    { participant: 'files', name: 'read_text_file' },
    { participant: 'a.b', name: 'c' },
    { participant: 'a_b', name: 'c' },
    { participant: 'a', name: 'b__c' },
    { participant: 'a__b', name: 'c' },
    { participant: 'a', name: '_c' },
    { participant: 'a_', name: 'c' },
    { participant: '7', name: 'x'.repeat(80) },
    { participant: 'one', name: 'two__run' },
    { participant: 'one__two', name: 'run' },
    { participant: 'ask', name: '' },
    { participant: 'n'.repeat(60), name: 'x' },
  ]
  const names = [...nameTools(tools).keys()]
  expect(names.slice(0, 4)).toEqual([
    'files__read_text_file',
    expect.stringMatching(/^a_b__c--\w{7}$/),
    'a_b__c',
    'a__b__c',
  ])
  expect(new Set(names).size).toBe(tools.length)
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,47}$/)
  for (const [at, tool] of tools.entries()) expect([...nameTools([tool]).keys()]).toEqual([names[at]])
  // A tool whose own name equals the hashed name of another tool gets a different name for the model.
  const [, hashed = ''] = names
  expect([...nameTools([{ participant: 'a_b', name: hashed.slice('a_b__'.length) }]).keys()]).not.toContain(
    hashed,
  )
})

test.for([
  [
    '256 of them, of which the model gets what it has room for',
    Array.from({ length: 50_000 }, (_, n) => ({ name: `x${n}` })),
    126,
    2,
  ],
  ['one of each name', Array.from({ length: 5000 }, () => ({ name: 'x' })), 1, 0],
  [
    '256 KiB of them',
    Array.from({ length: 9 }, (_, n) => ({
      name: `x${n}`,
      inputSchema: { type: 'object', properties: { x: { enum: ['x'.repeat(60_000)] } } },
    })),
    4,
    1,
  ],
] as const)('of one participant are read at most %s', async ([, tools, maxCount, troubles]) => {
  await using here = await stage(always, { tools: ['*/*'] })
  here.bob.serve(async () => ({ result: { tools } }))
  await here.ask()
  const names = offered(here)
  expect(names.filter((name) => name?.startsWith('bob__'))).toHaveLength(maxCount)
  expect(names.slice(maxCount)).toEqual(['desk__add', 'desk__look'])
  expect(here.troubles).toHaveLength(troubles)
})

test('a name leads to the tool that it was made of', async () => {
  const [name = ''] = nameTools([{ participant: 'desk', name: 'a/b' }]).keys()
  await using here = await stage([[{ call: name, input: {} }], answering('done')])
  const called: string[] = []
  for (const name of ['a.b', 'a/b']) here.desk.tool(name, {}, () => void called.push(name))
  await here.ask()
  expect(called).toEqual(['a/b'])
})
