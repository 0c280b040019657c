import { type Dial, SpaceClient } from '@meup/agent-sdk'
import { createTestGateway, dialInMemory, testToken } from '@meup/gateway/testing'
import { type Capability, Kind } from '@meup/protocol'
import { Type } from '@sinclair/typebox'
import { expect, onTestFinished, test } from 'vitest'
import { completion, saying, serveModel } from '../../../../test/support/model-server.js'

const numbers = [
  '2512292042121000001',
  '-9007199254740993',
  '1.0',
  '1E2',
  '123456789012345678901234567890',
  '0.10000000000000000000001',
]

/** A model calls a tool with this JSON. Gives the frames that hold the call, and what the model is sent after it. */
async function call(json: string, capabilities: readonly Capability[]) {
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
  const made = { index: 0, id: 'c', function: { name: 'desk__keep', arguments: json } }
  const { baseURL, requests } = await serveModel([
    { body: completion('tool_calls', { tool_calls: [made] }) },
    saying('Done.'),
  ])
  void bot.agent({ model: 'm', baseURL, tools: ['desk/*'] })
  const { text } = await ana.ask('Keep it', { to: ['bot'] })
  expect(text).toBe('Done.')
  for (const client of [ana, bot, desk]) client.close()
  return {
    calls: frames.filter((frame) => frame.includes('"method":"tools/call"')),
    sent: requests[1]?.body.messages[2],
  }
}

test.for(numbers)('%s keeps its digits from the text of the model to the tool', async (digits) => {
  const { calls } = await call(`{"_rationale":"\\"so\\"", "n":${digits},"in":[{"n": ${digits}}]}`, ['*'])
  expect(calls).toHaveLength(1)
  expect(calls[0]).toContain(`"arguments":{"n":${digits},"in":[{"n": ${digits}}]}`)
  expect(calls[0]).toContain('"rationale":"\\"so\\""')
})

test('a number that is proposed keeps its digits until the approved call', async () => {
  const capabilities = [
    'chat',
    'reasoning.*',
    'mcp.proposal',
    { kind: 'mcp.request', to: 'desk', payload: { method: 'tools/list' } },
  ]
  const { calls } = await call('{"n":2512292042121000001,"in":{}}', capabilities)
  expect(calls.length).toBeGreaterThan(1)
  for (const each of calls) expect(each).toContain('"arguments":{"n":2512292042121000001,"in":{}}')
})

test('a text that looks like a number, and a key that is repeated, are left alone', async () => {
  const { calls } = await call('{"text":"2512292042121000001","n":1,"n":9007199254740993,"in":"\\"1.0"}', [
    '*',
  ])
  expect(calls[0]).toContain('"arguments":{"text":"2512292042121000001","n":9007199254740993,"in":"\\"1.0"}')
})

test('the model reads the digits again that it wrote', async () => {
  const { sent } = await call('{"n":2512292042121000001,"in":[-9007199254740993]}', ['*'])
  const [{ function: again }] = Object(sent).tool_calls
  expect(again.arguments).toBe('{"n":"2512292042121000001","in":["-9007199254740993"]}')
})
