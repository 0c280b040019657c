import { once } from 'node:events'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byId, type Client, ofKind } from './client.js'
import { start } from './support.js'

/** Milliseconds between pings; with less, a busy machine could not answer pings in time. */
const heartbeatMs = 150

/** Resolves at the next ping of a connection; rejects if the connection is closed before. */
const nextPing = ({ ws, closed }: Client): Promise<unknown> =>
  Promise.race([
    once(ws, 'ping'),
    closed.then(({ code, reason }) => {
      throw new Error(`closed with ${code}: ${reason}`)
    }),
  ])

const participants = { alice: ['*'], bob: ['*'] }

test('who asks for ticks gets one with each ping, after the welcome, and nobody else gets any', async () => {
  const { connect } = await start({ participants, heartbeatMs })
  const bob = await connect('bob')
  const alice = await connect('alice', { query: 'tick=1' })
  await alice.next(ofKind(Kind.systemTick))
  await alice.next(ofKind(Kind.systemTick))
  await nextPing(bob)
  const ticks = alice.frames.filter(ofKind(Kind.systemTick))
  expect(new Set(ticks.map((frame) => alice.texts.get(frame)))).toEqual(new Set(['{"kind":"system.tick"}']))
  expect(alice.frames[0]?.kind).toBe(Kind.systemWelcome)
  expect(bob.frames.filter(ofKind(Kind.systemTick))).toEqual([])
})

test('ticks come under every subscription, count as no envelope, and are not logged', async () => {
  const { connect } = await start({ participants, heartbeatMs })
  const alice = await connect('alice', { query: 'tick=1' })
  const { suppressed: before } = (await alice.subscribe({ kinds: ['chat'], from: ['nobody'] })).subscription
  const first = await alice.accepted({ kind: 'chat', payload: { message: 'one' } })
  await alice.next(ofKind(Kind.systemTick))
  const second = await alice.accepted({ kind: 'chat', payload: { message: 'two' } })
  expect(second.seq).toBe(first.seq + 1)
  expect((await alice.subscribe({ kinds: ['chat'] })).subscription.suppressed).toEqual(before)
})

test('no participant may send one', async () => {
  const { connect } = await start({ participants })
  const alice = await connect('alice')
  expect(await alice.refused({ kind: Kind.systemTick })).toMatchObject({ code: 'reserved_kind' })
})

test('another value of tick is refused', async () => {
  const { connectRequest } = await start({ participants })
  expect(await connectRequest({ token: 'token-of-alice', query: 'tick=yes' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  })
})

test('a connection that is not read for a while is pinged all the same', async () => {
  const bytes = { perSecond: 1, burst: 1000 }
  const { connect } = await start({ participants, heartbeatMs, limits: { rates: { bytes } } })
  const alice = await connect('alice')
  const id = 'large'
  alice.send({ id, kind: 'chat', payload: { message: 'x'.repeat(5000) } })
  await alice.next(byId(id))
  alice.send({ kind: 'chat', payload: { message: 'it waits' } })
  for (const _ of Array(4)) await nextPing(alice)
  expect(alice.ws.readyState).toBe(alice.ws.OPEN)
})
