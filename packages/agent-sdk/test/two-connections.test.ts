import { connect, type SpaceClient } from '@meup/agent-sdk'
import { testToken } from '@meup/gateway/testing'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from './support/eventually.js'
import { byId, recordEnvelopes } from './support/record-envelopes.js'
import { standing } from './support/standing.js'

/** Two connections of ana, and `files` with a tool that runs until it is cancelled. */
async function twice() {
  const gateway = await standing({ participants: { ana: ['*'], files: ['*'] } })
  onTestFinished(() => gateway.stop())
  const enter = async (as: string): Promise<SpaceClient> => {
    const seat = await connect({ url: gateway.url, space: 'test', token: testToken(as) })
    onTestFinished(() => seat.close())
    return seat
  }
  const [one, other, files] = await Promise.all([enter('ana'), enter('ana'), enter('files')])
  const running = new Set<string>()
  files.tool('wait', {}, async (_, { signal, request }) => {
    running.add(request.id)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    running.delete(request.id)
  })
  return { one, other, files, running }
}

/** Calls the tool with a given JSON-RPC id: clients count from 1 on each connection, so ids are not unique. */
const callAs = (seat: SpaceClient, id: number | string) =>
  seat.send({
    kind: 'mcp.request',
    to: ['files'],
    payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait' } },
  })

const cancelAs = (seat: SpaceClient, requestId: number | string, correlationId?: string) =>
  seat.send({
    kind: 'mcp.request',
    to: ['files'],
    ...(correlationId !== undefined && { correlationId }),
    payload: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
  })

test('two connections of one participant cancel only their own calls', async () => {
  const { one, other, running } = await twice()
  const [first, second] = [await callAs(one, 1), await callAs(other, 1)]
  await eventually(() => expect(running).toEqual(new Set([first.id, second.id])))
  await cancelAs(one, 1, first.id)
  await eventually(() => expect(running).toEqual(new Set([second.id])))
})

test('calls of the SDK are cancelled one by one, too', async () => {
  const { one, other, running } = await twice()
  const stop = new AbortController()
  const calls = [one.call('files/wait', {}, { signal: stop.signal }), other.call('files/wait')]
  const settled = Promise.allSettled(calls)
  await eventually(() => expect(running.size).toBe(2))
  stop.abort()
  await eventually(() => expect(running.size).toBe(1))
  other.close()
  await settled
})

test('a cancellation without correlationId cancels the one call that it can mean, or none', async () => {
  const { one, other, files, running } = await twice()
  const heard = recordEnvelopes(files)
  const calls = [await callAs(one, 1), await callAs(other, 1), await callAs(one, '1')]
  await eventually(() => expect(running.size).toBe(3))
  await heard.until(byId((await cancelAs(one, 1)).id))
  await cancelAs(one, '1')
  await eventually(() => expect(running).toEqual(new Set(calls.slice(0, 2).map(({ id }) => id))))
})
