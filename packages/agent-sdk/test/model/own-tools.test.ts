import { type AgentOptions, runAgent, tool } from '@meup/agent-sdk'
import { scriptedModel } from '@meup/agent-sdk/ai'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { z as z3 } from 'zod-3'
import { agentErrors, schemaErrors } from '../../src/agent/errors.js'
import { timeoutError } from '../../src/client/errors.js'
import { caughtUp } from '../support/record-envelopes.js'
import { answering, getPrompt, getToolCalls, listStory, type Stage, stage } from './stage.js'

const offered = ({ model }: Pick<Stage, 'model'>, index = 0): (string | undefined)[] =>
  model.requests[index]?.tools?.map(({ name }) => name) ?? []
/** The tool results in the second request to the model. */
const results = ({ model }: Stage): string => JSON.stringify(getPrompt(model, 1).at(-1))
const weather = tool(
  'weather',
  { description: 'Of a city', input: Type.Object({ city: Type.String() }) },
  ({ city }) => `rain in ${city}`,
)
const asking = (name: string, input: object = {}) => [[{ call: name, input }], answering('Done.')]

test('a tool that is given is called by the model, and served to others', async () => {
  const input = { city: 'Oslo', _rationale: 'to know what to wear' }
  await using here = await stage(asking('bot__weather', input), { tools: ['desk/add', weather] })
  expect(await here.ask('A coat?')).toBe('Done.')
  expect(offered(here)).toEqual(['bot__weather', 'desk__add'])
  expect(results(here)).toMatch(/rain in Oslo/)
  await caughtUp(here.bot, here.heard)
  expect(listStory(here.heard)).toEqual([
    ...[
      'reasoning.start',
      'mcp.request weather: to know what to wear',
      'reasoning.conclusion',
      'chat: Done.',
    ],
    'test.fence',
  ])
  expect(getToolCalls(here)).toEqual([{ name: 'weather', arguments: { city: 'Oslo' } }])
  expect((await here.ana.call('bot/weather', { city: 'Rome' })).text).toBe('rain in Rome')
})

describe('of what the agent offers, the model gets', () => {
  test.for<[string, NonNullable<AgentOptions['tools']>, string[]]>([
    ['none where others are chosen', ['desk/add'], ['desk__add']],
    ['those of me', ['me/*'], ['bot__read', 'bot__write']],
    ['those of me, in short', ['me'], ['bot__read', 'bot__write']],
    ['those of its id', ['bot/r*', 'desk/look'], ['bot__read', 'desk__look']],
    ['all but', ['!me/write', '!desk'], ['bot__read']],
    ['what is given as well', ['!me/*', '!desk', weather], ['bot__weather']],
    ['what is given, once', ['me/*', weather], ['bot__weather', 'bot__read', 'bot__write']],
  ])('%s: %j', async ([, tools, names]) => {
    await using here = await stage(() => answering('done'), { kind: 'mcp', tools })
    here.bot.tool('read', {}, () => 'ok').tool('write', {}, () => 'ok')
    await here.ask()
    expect(offered(here)).toEqual(names)
  })

  test('all, beside those of servers, where nothing is chosen', async () => {
    const server = { kind: 'mcp', capabilities: ['*'] }
    await using space = await createTestSpace({
      participants: { ana: ['*'], bot: ['*'], desk: server, eve: ['*'] },
    })
    const [ana, bot, desk, eve] = await Promise.all(['ana', 'bot', 'desk', 'eve'].map((id) => space.join(id)))
    for (const each of [bot, desk, eve]) each?.tool('read', {}, () => 'ok')
    const model = scriptedModel([answering('done')])
    void bot?.agent({ model })
    await ana?.ask('Hm?', { to: ['bot'] })
    expect(offered({ model })).toEqual(['bot__read', 'desk__read'])
  })

  test('what is added between two turns', async () => {
    await using here = await stage(() => answering('done'), { tools: ['me/*'] })
    await here.ask()
    here.bot.tool('late', {}, () => 'ok')
    await here.ask()
    expect([offered(here), offered(here, 1)]).toEqual([[], ['bot__late']])
  })

  test('those that frameworks choose', async () => {
    await using here = await stage([])
    here.bob.tool('read', {}, () => 'seen')
    void here.bob.answer((turn) =>
      runAgent(
        turn,
        async function* ({ tools }) {
          yield { text: `${tools.map(({ name }) => name)}: ${(await tools[0]?.call({}))?.text}` }
        },
        { tools: ['me/*'] },
      ),
    )
    expect((await here.ana.ask('?', { to: ['bob'] })).text).toBe('read: seen')
  })
})

test('participants that are away, or do not answer, keep no own tool from the model', async () => {
  await using here = await stage(asking('bot__weather', { city: 'Oslo' }), { tools: ['*', weather] })
  here.desk.close()
  expect(await here.ask()).toBe('Done.')
  expect(results(here)).toMatch(/rain in Oslo/)
})

test('without the capability the model reads which line is missing', async () => {
  const capabilities = ['chat', 'reasoning.*']
  await using here = await stage(asking('bot__weather', { city: 'Oslo' }), { capabilities, tools: [weather] })
  expect(await here.ask()).toBe('Done.')
  expect(results(here)).toContain('Add { tool: \\"me/*\\" } to its capabilities in space.yaml.')
})

test('{ tool: "me/*" } is all that it takes', async () => {
  const capabilities = ['chat', 'reasoning.*', { tool: 'me/*' }]
  await using here = await stage(asking('bot__weather', { city: 'Oslo' }), { capabilities, tools: [weather] })
  expect(await here.ask()).toBe('Done.')
  expect(results(here)).toMatch(/rain in Oslo/)
  expect(here.troubles).toEqual([])
})

describe('bad input', () => {
  test('a tool that is given beside another one of its name ends the agent', async () => {
    const twin = tool('weather', {}, () => 'sun')
    await using here = await stage([], { tools: [weather, twin] })
    await expect(here.ended).rejects.toThrow(agentErrors.offeredTool('weather').message)
  })

  test('so does one whose schema turns out to be of no object', async () => {
    const odd = tool('odd', { input: z3.string() }, () => 'sun')
    await using here = await stage([], { tools: [odd] })
    await expect(here.ended).rejects.toThrow(
      agentErrors.refusedTool('odd', schemaErrors.notAnObject('string')).message,
    )
  })

  test('of a tool that throws the model reads why', async () => {
    const broken = tool('break', {}, () => {
      throw new Error('it is broken')
    })
    await using here = await stage(asking('bot__break'), { tools: [broken] })
    expect(await here.ask()).toBe('Done.')
    expect(results(here)).toMatch(/it is broken/)
  })

  test('of one that hangs it reads so after toolMs, and the tool is cancelled', async () => {
    const signals: AbortSignal[] = []
    const hanging = tool('hang', {}, (_, { signal }) => {
      signals.push(signal)
      return new Promise(() => {})
    })
    await using here = await stage(asking('bot__hang'), { tools: [hanging], limits: { toolMs: 500 } })
    expect(await here.ask()).toBe('Done.')
    expect(results(here)).toContain(`The tool did not answer: ${timeoutError('response', 500).message}`)
    await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test('of one that gives back 5 MiB it reads that it is too large', async () => {
    const large = tool('read', {}, () => 'x'.repeat(5 * 1024 * 1024))
    await using here = await stage(asking('bot__read'), { tools: [large] })
    expect(await here.ask()).toBe('Done.')
    expect(results(here)).toMatch(
      /The tool has run\. Its result has 52\d+ bytes and is too large for this space/,
    )
  })

  test('one with a schema of 100 KiB is left out, and reported once', async () => {
    const keys = Array.from({ length: 1000 }, (_, n) => [`${'long'.repeat(25)}${n}`, { type: 'string' }])
    const large = tool(
      'large',
      { input: { type: 'object', properties: Object.fromEntries(keys) } },
      () => 'ok',
    )
    await using here = await stage(() => answering('done'), { tools: [large, weather] })
    await here.ask()
    await here.ask()
    expect([offered(here), offered(here, 1)]).toEqual([['bot__weather'], ['bot__weather']])
    expect(here.troubles).toMatchObject([
      { message: 'a tool of bot is left out: the schema of large has more than 65536 characters' },
    ])
  })

  test.each(['☃', 'a/b c', '../c', 'e\'"f', '__x__', 'x'.repeat(128)])(
    'the odd name %j is called as it is',
    async (name) => {
      const odd = tool(name, {}, (_, { request }) => `this is ${request.payload.params?.name}`)
      await using here = await stage(
        ({ tools }, index) =>
          index === 0 ? [{ call: tools?.[0]?.name ?? '', input: {} }] : answering('Done.'),
        { tools: [odd] },
      )
      expect(await here.ask()).toBe('Done.')
      expect(offered(here)).toEqual([expect.stringMatching(/^[A-Za-z][\w-]{0,63}$/)])
      const [call] = here.heard.all.filter(({ kind, from }) => kind === Kind.mcpRequest && from === 'bot')
      expect(call?.payload).toMatchObject({ params: { name } })
      expect(results(here)).toContain('this is ')
    },
  )
})
