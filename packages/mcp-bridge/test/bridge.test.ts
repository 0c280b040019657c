import { ToolError } from '@meup/agent-sdk'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { bridgeMcpServer } from '@meup/mcp-bridge'
import type { AnyEnvelope } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { fixtures } from './support/processes.js'

async function bridged() {
  const space = await createTestSpace({ participants: { ana: ['*'], eve: ['*'], files: ['mcp.*'] } })
  const [ana, eve] = [await space.join('ana'), await space.join('eve')]
  const bridge = await bridgeMcpServer({
    connect: () => space.join('files'),
    name: 'files',
    command: process.execPath,
    args: [fixtures.rawServer],
    env: {},
  })
  onTestFinished(async () => {
    await bridge.close()
    await space.close()
  })
  return { ana, eve, bridge }
}

test('a result comes back as the server sent it, whatever it holds', async () => {
  const { ana } = await bridged()
  const result =
    '{"z":1,"content":[{"type":"hologram","data":[1,{"b":2,"a":1}]}],"_meta":{"k":null},"extra":true}'
  const line = `{"jsonrpc":"2.0","id":$ID,"result":${result}}`
  const answered = await ana.request('files', 'tools/call', { name: 'line', arguments: { line } })
  expect(JSON.stringify(answered)).toBe(result)
})

test('a request reaches the server with its extra params, and the response carries the id of its asker', async () => {
  const { ana } = await bridged()
  const responses = ana.envelopes()
  const params = { name: 'mirror', arguments: {}, _meta: { trace: 'abc' }, unknown: [1] }
  const payload = { jsonrpc: '2.0', id: 'my own', method: 'tools/call', params }
  const request = await ana.send({ kind: 'mcp.request', to: ['files'], context: 'a/b/c', payload })
  const response = await find(responses, (envelope) => envelope.correlationId === request.id)
  expect(response).toMatchObject({ from: 'files', to: ['ana'], context: 'a/b/c', payload: { id: 'my own' } })
  expect(response.payload).toHaveProperty('result.request.params', params)
})

test('a server that dies in the middle of calls: each asker is told, the participant leaves, others go on', async () => {
  const { ana, eve, bridge } = await bridged()
  const heard = eve.envelopes()
  const calls = await Promise.allSettled([eve.call('files/silent'), ana.call('files/kill')])
  for (const call of calls) {
    const reason = call.status === 'rejected' ? call.reason : call.value
    expect(reason).toBeInstanceOf(ToolError)
    expect(reason).toMatchObject({ code: -32000, message: expect.stringContaining('"files" ended') })
  }
  await find(
    heard,
    ({ kind, payload }) => kind === 'system.presence' && 'event' in payload && payload.event === 'leave',
  )
  expect((await bridge.ended).reason).toContain('SIGKILL')
  expect((await eve.chat('still here')).seq).toBeGreaterThan(0)
})

test('a server that cannot start takes no seat', async () => {
  const never = (): never => {
    throw new Error('a seat was taken')
  }
  const start = bridgeMcpServer({
    connect: never,
    name: 'files',
    command: 'no-such-program',
    env: { PATH: '' },
  })
  await expect(start).rejects.toMatchObject({ details: { command: 'no-such-program' } })
})

async function find(envelopes: AsyncIterable<AnyEnvelope>, test: (envelope: AnyEnvelope) => boolean) {
  for await (const envelope of envelopes) if (test(envelope)) return envelope
  throw new Error('the space was closed')
}
