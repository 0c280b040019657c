import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import type { AgentOptions } from '@meup/agent-sdk'
import { type Dial, SpaceClient } from '@meup/agent-sdk/internal'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import { type Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { expect, onTestFinished, test } from 'vitest'
import { completion, events, serveModel } from '../../../../test/support/model-server.js'
import { block, event, message } from './wire.js'

const numbers = [
  '2512292042121000001',
  '-9007199254740993',
  '1.0',
  '1E2',
  '123456789012345678901234567890',
  '0.10000000000000000000001',
]

type Wire = readonly [
  name: string,
  calling: (json: string) => string,
  answer: string,
  at: (baseURL: string) => Pick<AgentOptions, 'model' | 'baseURL'>,
]

const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'desk__keep', status: 'completed' }
const response = { id: 'r', created_at: 1, model: 'gpt-5', service_tier: null, output: [] }
const usage = { input_tokens: 5, output_tokens: 7 }
const completed = { ...response, usage, incomplete_details: null }
const responses = (...events: readonly Parameters<typeof event>[0][]): string =>
  [{ type: 'response.created', response }, ...events, { type: 'response.completed', response: completed }]
    .map(event)
    .join('')
const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }

const call = (json: string): string =>
  `{"tool_calls":[{"index":0,"id":"c","function":{"name":"desk__keep","arguments" : ${json} }}]}`
const choose = (said: string): string =>
  `{"id":"r","created":1,"model":"m","choices":[{"index":0,${said},"finish_reason":"tool_calls"}]}`
const done = completion('stop', { content: 'Done.' })

/** Functions that stream a call and an answer, by provider. */
const wires: readonly [Wire, ...Wire[]] = [
  [
    'chat completions',
    (json) =>
      completion('tool_calls', {
        tool_calls: [{ index: 0, id: 'c', function: { name: 'desk__keep', arguments: json } }],
      }),
    done,
    (baseURL) => ({ model: 'm', baseURL }),
  ],
  [
    'chat completions, as an object',
    (json) => events(choose(`"delta":${call(json)}`), '[DONE]'),
    done,
    (baseURL) => ({ model: 'm', baseURL }),
  ],
  [
    'chat completions that are no stream, as an object',
    (json) => choose(`"message":${call(json)}`),
    done,
    (baseURL) => ({ model: 'm', baseURL }),
  ],
  [
    'Responses',
    (json) =>
      responses(
        { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
        { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 0, delta: json },
        { type: 'response.output_item.done', output_index: 0, item: { ...item, arguments: json } },
      ),
    responses(
      { type: 'response.output_item.added', output_index: 0, item: said },
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: 'Done.' },
      { type: 'response.output_item.done', output_index: 0, item: said },
    ),
    (baseURL) => ({ model: createOpenAI({ baseURL, apiKey: 'k' }).responses('gpt-5') }),
  ],
  [
    "Anthropic's messages",
    (json) =>
      message(
        'tool_use',
        block(
          0,
          { type: 'tool_use', id: 'c', name: 'desk__keep', input: {} },
          ...(json.match(/[\s\S]{1,5}/g) ?? []).map((partial_json) => ({
            type: 'input_json_delta',
            partial_json,
          })),
        ),
      ),
    message('end_turn', block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'Done.' })),
    (baseURL) => ({ model: createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5') }),
  ],
]

/** Lets a model call a tool with this JSON. Returns the frames that contain the call, and the next request to the model. */
async function keep(json: string, capabilities: readonly Capability[], wire: Wire = wires[0]) {
  const [, calling, answer, at] = wire
  const participants = { ana: ['*'], bot: capabilities, desk: ['*'] }
  const gateway = await createTestGateway({ participants })
  onTestFinished(() => gateway.close())
  const dial: Dial = ({ url: _, ...request }, events) => dialInMemory(gateway, request, events)
  const open = (id: string) => SpaceClient.open(dial, { url: 'memory:', space: 'test', token: testToken(id) })
  const [ana, bot, desk] = [await open('ana'), await open('bot'), await open('desk')]
  const frames: string[] = []
  const listener = { message: (text: string) => void frames.push(text), close: () => {} }
  await dialInMemory(gateway, { space: 'test', token: testToken('ana') }, listener)
  const input = Type.Object({ n: Type.Number(), in: Type.Unknown(), text: Type.Optional(Type.String()) })
  desk.tool('keep', { input }, () => 'kept')
  ana.on('envelope', ({ id, kind }) => kind === Kind.mcpProposal && void ana.proposals.approve(id))
  const body = calling(json)
  const headers = body.startsWith('{') ? { 'content-type': 'application/json' } : {}
  const { baseURL, requests } = await serveModel([{ body, headers }, { body: answer }])
  void bot.agent({ ...at(baseURL), tools: ['desk/*'] })
  const { text } = await ana.ask('Keep it', { to: ['bot'] })
  expect(text).toBe('Done.')
  for (const client of [ana, bot, desk]) client.close()
  return {
    calls: frames.filter((frame) => frame.includes('"method":"tools/call"')),
    sent: requests[1]?.body.messages?.[2],
  }
}

test.for(numbers)('%s keeps its digits from the text of the model to the tool', async (digits) => {
  const { calls } = await keep(`{"_rationale":"\\"so\\"", "n":${digits},"in":[{"n": ${digits}}]}`, ['*'])
  expect(calls).toHaveLength(1)
  expect(calls[0]).toContain(`"arguments":{"n":${digits},"in":[{"n":${digits}}]}`)
  expect(calls[0]).toContain('"rationale":"\\"so\\""')
})

test.for(wires.slice(1))('a number keeps its digits from the text of %s', async (wire) => {
  const { calls } = await keep('{"_rationale":"so","n":2512292042121000001,"in":{"n":1.0}}', ['*'], wire)
  expect(calls[0]).toContain('"arguments":{"n":2512292042121000001,"in":{"n":1.0}}')
})

test('a number that is proposed keeps its digits until the approved call', async () => {
  const capabilities = [
    'chat',
    'reasoning.*',
    'mcp.proposal',
    { kind: 'mcp.request', to: 'desk', payload: { method: 'tools/list' } },
  ]
  const { calls } = await keep('{"n":2512292042121000001,"in":{}}', capabilities)
  expect(calls.length).toBeGreaterThan(1)
  for (const each of calls) expect(each).toContain('"arguments":{"n":2512292042121000001,"in":{}}')
})

test('a text that looks like a number, and a key that is repeated, are left alone', async () => {
  const { calls } = await keep('{"text":"2512292042121000001","n":1,"n":9007199254740993,"in":"\\"1.0"}', [
    '*',
  ])
  expect(calls[0]).toContain('"arguments":{"text":"2512292042121000001","n":9007199254740993,"in":"\\"1.0"}')
})

test('the model reads the digits again that it wrote', async () => {
  const { sent } = await keep('{"n":2512292042121000001,"in":[-9007199254740993]}', ['*'])
  const [{ function: again }] = Object(sent).tool_calls
  expect(again.arguments).toBe('{"n":"2512292042121000001","in":["-9007199254740993"]}')
})
