import { type AgentEvent, type CallableTool, offerTools, runAgent } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { expect, onTestFinished, test } from 'vitest'
import { agentErrors } from '../src/agent/errors.js'
import { eventually } from './support/eventually.js'
import { recordEnvelopes } from './support/record-envelopes.js'

async function here() {
  const participants = {
    ana: ['*'],
    desk: { kind: 'mcp', capabilities: ['*'] },
    bot: [
      'chat',
      'reasoning.*',
      { kind: 'mcp.request', to: 'desk', payload: { method: 'tools/list' } },
      { tool: 'desk/add' },
    ],
  }
  const space = await createTestSpace({ participants })
  onTestFinished(() => space.close())
  const [ana, desk, bot] = [await space.join('ana'), await space.join('desk'), await space.join('bot')]
  const input = Type.Object({ a: Type.Number(), b: Type.Number() })
  desk.tool('add', { description: 'Adds', input }, ({ a, b }) => `${a + b}`)
  desk.tool('burn', {}, () => 'ashes')
  return { space, ana, desk, bot, heard: recordEnvelopes(ana) }
}

test('lists what may be called or proposed, as plain objects, and tells when that may have changed', async () => {
  const at = await here()
  const tools = await at.bot.tools()
  expect(tools).toMatchObject([{ participant: 'desk', name: 'add', description: 'Adds' }])
  expect(JSON.parse(JSON.stringify(tools[0]?.inputSchema))).toMatchObject({
    type: 'object',
    required: ['a', 'b'],
  })
  expect((await tools[0]?.call({ a: 2, b: 3 }, { why: 'to know' }))?.text).toBe('5')
  expect(at.heard.all.find(({ rationale }) => rationale === 'to know')).toMatchObject({ to: ['desk'] })
  expect(await at.bot.tools(['!desk/add'])).toEqual([])
  // Once bot may propose calls, its list also contains tools that require an approval.
  await at.ana.grant('bot', ['mcp.proposal'])
  await eventually(() => expect(at.bot.capabilities).toContain('mcp.proposal'))
  expect((await at.bot.tools(['desk/*'])).map(({ name }) => name)).toEqual(['add', 'burn'])
  let changes = 0
  at.bot.on('tools', () => changes++)
  at.desk.close()
  await eventually(() => expect(changes).toBe(1))
  expect(await at.bot.tools()).toEqual([])
})

const said = ({ all }: { all: readonly AnyEnvelope[] }): string[] =>
  all
    .filter(({ from, kind }) => from === 'bot' && kind !== Kind.chatDelta)
    .flatMap(({ kind, payload, rationale }) => {
      const { message, method } = payload as { message?: string; method?: string }
      return method === 'tools/list' ? [] : [[kind, message ?? rationale].filter(Boolean).join(': ')]
    })

const add = (tools: readonly CallableTool[], why: string) => tools[0]?.call({ a: 2, b: 3 }, { why })

test('what an agent of a framework does becomes a run, with its calls, and an answer', async () => {
  const at = await here()
  async function* agent(tools: readonly CallableTool[]): AsyncGenerator<AgentEvent> {
    yield { thought: 'A sum. ' }
    yield { thought: 'I have a tool for that.' }
    yield { text: 'Let me ' }
    yield { text: 'add them.' }
    const result = await add(tools, 'to be sure')
    yield { text: `It is ${result?.text}` }
    yield { text: '.' }
  }
  void at.bot.answer((turn) => runAgent(turn, ({ tools }) => agent(tools), { metadata: { model: 'a' } }))
  expect((await at.ana.ask('What is 2 + 3?', { to: ['bot'] })).text).toBe('It is 5.')
  expect(said(at.heard)).toEqual([
    'reasoning.start',
    'reasoning.thought: A sum. I have a tool for that.',
    'reasoning.thought: Let me add them.',
    'mcp.request: to be sure',
    'reasoning.conclusion',
    'chat: It is 5.',
  ])
  expect(at.heard.all.find(({ kind }) => kind === Kind.reasoningStart)?.payload).toEqual({
    metadata: { model: 'a' },
  })
})

test.for<[name: string, agent: () => AsyncGenerator<AgentEvent>, answer: string]>([
  [
    'throws half-way',
    async function* () {
      yield { text: 'It is' }
      throw new Error('the model is gone')
    },
    'I could not answer: the model is gone',
  ],
  [
    'only thinks',
    async function* () {
      yield { thought: 'Hm.' }
    },
    `I could not answer: ${agentErrors.emptyAnswer().message}`,
  ],
])('an agent that %s', async ([, agent, answer]) => {
  const at = await here()
  void at.bot.answer((turn) => runAgent(turn, agent), { onError: () => {} })
  expect((await at.ana.ask('What is 2 + 3?', { to: ['bot'] })).text).toBe(answer)
})

/** Yields values from a queue that is filled faster than it is read, as in many frameworks. */
async function* queued<Value>(
  values: (push: (value: Value) => void) => Promise<void>,
): AsyncGenerator<Value> {
  const stream = new ReadableStream<Value>({
    start: (queue) =>
      void values((value) => queue.enqueue(value)).then(
        () => queue.close(),
        (error) => queue.error(error),
      ),
  })
  for await (const value of stream) yield await Promise.resolve(value)
}

test('calls of one step follow what was said before them, which is the reason of those without one', async () => {
  const at = await here()
  const agent = (tools: readonly CallableTool[]) =>
    queued<AgentEvent>(async (push) => {
      push({ thought: 'Two sums.' })
      for (const text of ['I add ', 'both.']) push({ text })
      await Promise.all([1, 2].map((b) => tools[0]?.call({ a: 1, b })))
      await tools[0]?.call({ a: 2, b: 3 })
      push({ text: 'Once more.' })
      await add(tools, 'to be sure')
      push({ text: 'It is 5.' })
    })
  void at.bot.answer((turn) => runAgent(turn, ({ tools }) => agent(tools)))
  expect((await at.ana.ask('What is 1 + 1 + 1 + 2?', { to: ['bot'] })).text).toBe('It is 5.')
  expect(said(at.heard)).toEqual([
    'reasoning.start',
    'reasoning.thought: Two sums.',
    'reasoning.thought: I add both.',
    'mcp.request: I add both.',
    'mcp.request: I add both.',
    'mcp.request',
    'reasoning.thought: Once more.',
    'mcp.request: to be sure',
    'reasoning.conclusion',
    'chat: It is 5.',
  ])
})

test('for a model, tools have names that providers take and ask for a reason, and errors are texts', async () => {
  const at = await here()
  at.desk.tool('a/b', { description: 'Odd' }, () => {
    throw new Error('it is dark')
  })
  await at.ana.grant('bot', ['mcp.*'])
  await eventually(() => expect(at.bot.capabilities).toContain('mcp.*'))
  const tools = offerTools(await at.bot.tools())
  const [sum, , odd] = tools
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ['desk__add', 'Adds'],
    ['desk__burn', ''],
    [expect.stringMatching(/^desk__a_b--\w{7}$/), 'Odd'],
  ])
  expect(Object.keys(sum?.inputSchema.properties ?? {})).toEqual(['_rationale', 'a', 'b'])
  expect(sum?.inputSchema.required).toEqual(['a', 'b'])
  expect(await sum?.call({ _rationale: 'to know', a: 2, b: 3 })).toBe('5')
  expect(at.heard.all.find(({ rationale }) => rationale === 'to know')?.payload).toMatchObject({
    params: { name: 'add', arguments: { a: 2, b: 3 } },
  })
  expect(await odd?.call({})).toBe('it is dark')
  await expect(sum?.call({ a: 2, b: 3 }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'aborted',
  })
})
