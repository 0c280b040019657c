import { expect, test } from 'vitest'
import { byId, errorFor, type Sent } from '../../../gateway/test/client.js'
import { asking } from '../../../gateway/test/http-client.js'
import { start } from '../../../gateway/test/support.js'
import { openNats, withNats } from '../nats.js'

const participants = { caller: ['*'], tool: ['*'] }
const mebibyte = 1024 * 1024
const call: Sent = { id: 'call', kind: 'mcp.request', to: ['tool'], payload: { method: 'tools/call' } }
const response = (id: string, bytes: number): Sent => ({
  id,
  kind: 'mcp.response',
  to: ['caller'],
  correlationId: 'call',
  payload: { result: { content: [{ type: 'image', data: 'iVBO'.repeat(bytes / 4) }] } },
})

/** Two gateways that share the log of one space: the first one writes it, the second one follows. */
async function two(more?: string) {
  const { store } = await openNats(more === undefined ? {} : { more })
  const one = await start({ participants, store: await store() })
  return { one, follower: await start({ participants, store: await store() }) }
}

test(
  'a response of 3 MB goes from a gateway that follows through the log to both, and into the history',
  withNats(async () => {
    const { one, follower } = await two('max_payload: 8MB')
    const [caller, tool] = [await one.connect('caller'), await follower.connect('tool')]
    await caller.accepted(call)
    await tool.next(byId('call'))
    const sent = response('answer', 3 * mebibyte)
    await tool.accepted(sent)
    expect((await caller.next(byId('answer'))).payload).toEqual(sent.payload)
    for (const { url } of [one, follower]) {
      const { envelopes } = await asking(url, 'caller').history('kind=mcp.response')
      expect(envelopes.map(({ payload }) => payload)).toEqual([sent.payload])
    }
  }),
)

test(
  'what the servers do not take is refused, with the limit, and the log goes on',
  withNats(async () => {
    const { one, follower } = await two()
    const caller = await one.connect('caller')
    await caller.accepted(call)
    for (const gateway of [one, follower]) {
      const tool = await gateway.connect('tool')
      tool.send(response('large', mebibyte))
      expect((await tool.next(errorFor('large'))).payload).toMatchObject({
        code: 'payload_too_large',
        message: expect.stringContaining(`${mebibyte - 17 * 1024}`),
      })
      await tool.accepted({ kind: 'chat', payload: { message: 'still here' } })
    }
    const tool = await follower.connect('tool')
    await tool.accepted(response('answer', mebibyte - 18 * 1024))
    await caller.next(byId('answer'))
  }),
)
