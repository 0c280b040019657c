import { once } from 'node:events'
import { FakeClock } from '@meup/gateway/testing'
import { closeCodes, type Rate, type RateClass } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, type Client, ofKind, presence, range, type Sent, said, seqs } from './client.js'
import { frame, RawSocket } from './raw-socket.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }
const chat = (id: string, more: object = {}): Sent & { id: string } => ({
  id,
  kind: 'chat',
  payload: { message: 'hello' },
  ...more,
})
const hello = { kind: 'chat', payload: { message: 'hello' } }
const request = (id: string): Sent => ({ id, kind: 'mcp.request', payload: { method: 'ping' } })
const ids = (count: number): string[] => range(1, count).map((n) => `c${n}`)
const thirty = { perSecond: 10, burst: 30 }
const one = { perSecond: 1, burst: 1 }

async function enter(
  own: Partial<Record<RateClass, Rate>>,
  more: Partial<Parameters<typeof start>[0]> & { query?: string } = {},
) {
  const clock = new FakeClock()
  const { query = 'hold=1', ...options } = more
  const running = await start({ participants, clock, rates: { alice: own }, ...options })
  const [alice, bob] = [await running.connect('alice', { query }), await running.connect('bob')]
  /** Resolves when all envelopes that have arrived are decided, or wait for their rate. */
  const settle = async (): Promise<void> => {
    for (const _ of range(1, 3)) await bob.accepted(hello)
  }
  const accepted = async (): Promise<string[]> => {
    await settle()
    return said(bob.frames).filter((id) => /^[a-z]\d+$/.test(id) && !id.startsWith('t'))
  }
  return { ...running, clock, alice, bob, settle, accepted }
}

const errors = ({ frames }: Client): unknown[] =>
  frames.filter(ofKind('system.error')).map(({ payload }) => payload.code)

describe('on a connection with hold=1 [MEUP-7.9]', () => {
  test('45 chats at once are accepted in order, at the rate of their class, and none is refused', async () => {
    const { alice, bob, clock, accepted } = await enter({ chat: thirty })
    for (const id of ids(45)) alice.send(chat(id))
    await alice.next(byId('c30'))
    expect(await accepted()).toEqual(ids(30))
    clock.advance(99)
    expect(await accepted()).toEqual(ids(30))
    clock.advance(1)
    await alice.next(byId('c31'))
    expect(await accepted()).toEqual(ids(31))
    for (const n of range(32, 45)) {
      clock.advance(100)
      await alice.next(byId(`c${n}`))
    }
    expect(await accepted()).toEqual(ids(45))
    expect(errors(alice)).toEqual([])
    expect(alice.frames.filter(ofKind('system.decision'))).toEqual([])
    const own = seqs(bob.frames)
    expect(own).toEqual(range(own[0] ?? 0, own.at(-1) ?? 0))
  })

  test('what is sent after it waits behind it, whatever its class', async () => {
    const { alice, clock, accepted } = await enter({ chat: one })
    for (const each of [chat('c1'), chat('c2'), request('r3'), chat('c4'), request('r5')]) alice.send(each)
    await alice.next(byId('c1'))
    expect(await accepted()).toEqual(['c1'])
    clock.advance(1000)
    await alice.next(byId('r3'))
    expect(await accepted()).toEqual(['c1', 'c2', 'r3'])
    clock.advance(1000)
    await alice.next(byId('r5'))
    expect(await accepted()).toEqual(['c1', 'c2', 'r3', 'c4', 'r5'])
  })

  test.for<[RateClass, Sent]>([
    ['reasoning', { kind: 'reasoning.thought', context: 'c', payload: { message: 'hm' } }],
    ['mcp', { kind: 'mcp.request', payload: { method: 'ping' } }],
    ['control', { kind: 'participant.status' }],
    ['other', { kind: 'x.y' }],
  ])('%s waits for its rate as well', async ([name, sent]) => {
    const { alice, clock, settle } = await enter({
      [name]: { perSecond: 1, burst: name === 'control' ? 2 : 1 },
    })
    alice.send({ ...sent, id: 'first' })
    alice.send({ ...sent, id: 'second' })
    await alice.next(byId('first'))
    await settle()
    expect(said(alice.frames)).not.toContain('second')
    clock.advance(1000)
    await alice.next(byId('second'))
    expect(errors(alice)).toEqual([])
  })

  test('deltas and what cannot be read wait, too, and are answered as ever', async () => {
    const { alice, bob, clock, settle } = await enter({ deltas: one, other: one })
    const delta = { kind: 'chat.delta', correlationId: 'q', payload: { index: 0, text: 'x' } }
    for (const id of ['d1', 'd2']) alice.send({ ...delta, id })
    await bob.next(byId('d1'))
    await settle()
    expect(said(bob.frames)).not.toContain('d2')
    clock.advance(1000)
    await bob.next(byId('d2'))
    alice.send('{')
    alice.send('{')
    alice.send(chat('c1'))
    await alice.next(ofKind('system.error'))
    await settle()
    expect(said(bob.frames)).not.toContain('c1')
    clock.advance(1000)
    await bob.next(byId('c1'))
    expect(errors(alice)).toEqual(['invalid_json', 'invalid_json'])
  })

  test('it is not read meanwhile, pinged on, and never closed for that', async () => {
    const { alice, bob, clock, settle } = await enter({ chat: one }, { heartbeatMs: 20 })
    const count = 300
    for (const id of ids(count)) alice.send(chat(id, { payload: { message: 'x'.repeat(1000) } }))
    await alice.next(byId('c1'))
    for (const _ of range(1, 4)) await once(alice.ws, 'ping')
    await settle()
    expect(said(bob.frames)).not.toContain('c2')
    let pongs = 0
    alice.ws.on('pong', () => pongs++)
    alice.ws.ping()
    await settle()
    expect(pongs).toBe(0)
    for (const n of range(2, count)) {
      clock.advance(1000)
      await alice.next(byId(`c${n}`))
    }
    expect(said(alice.frames).filter((id) => id.startsWith('c'))).toEqual(ids(count))
    await expect.poll(() => pongs).toBe(1)
    expect([errors(alice), alice.ws.readyState]).toEqual([[], alice.ws.OPEN])
  })

  test('two connections of one participant take turns, in the order in which they came', async () => {
    const { alice, connect, clock, accepted, settle } = await enter({ chat: one })
    const other = await connect('alice', { query: 'hold=1' })
    await alice.accepted(chat('a1'))
    alice.send(chat('a2'))
    alice.send(chat('a3'))
    await settle()
    other.send(chat('b1'))
    other.send(chat('b2'))
    await settle()
    for (const each of ['a2', 'b1', 'a3', 'b2']) {
      clock.advance(1000)
      await alice.next(byId(each))
    }
    expect(await accepted()).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
  })

  test('another connection without it is refused as ever, and told when it may send again', async () => {
    const { alice, connect, clock, settle } = await enter({ chat: one })
    const other = await connect('alice')
    await alice.accepted(chat('a1'))
    alice.send(chat('a2'))
    await settle()
    expect(await other.refused(chat('b1'))).toMatchObject({ code: 'rate_limited', retryAfterMs: 2000 })
    clock.advance(2000)
    await other.accepted(chat('b1'))
  })

  test('a retry costs and waits for nothing', async () => {
    const { alice } = await enter({ chat: one })
    await alice.accepted(chat('c1'))
    await alice.accepted(chat('c1'))
  })

  test('it resumes as any other', async () => {
    const { alice, connect, clock, settle } = await enter({ chat: one })
    const { seq } = await alice.accepted(chat('c1'))
    await alice.close()
    const back = await connect('alice', { query: `after=${seq - 1}&hold=1` })
    await back.next(byId('c1'))
    back.send(chat('c2'))
    await settle()
    expect(said(back.frames)).not.toContain('c2')
    clock.advance(1000)
    await back.next(byId('c2'))
  })

  describe('what waits', () => {
    test('is decided on when its turn comes: a pause that came meanwhile refuses it', async () => {
      const { alice, bob, clock, settle } = await enter({ chat: one })
      await alice.accepted(chat('c1'))
      alice.send(chat('c2'))
      await settle()
      await bob.accepted({ kind: 'participant.pause', to: ['alice'], payload: {} })
      clock.advance(1000)
      expect(await alice.next(ofKind('system.error'))).toMatchObject({
        correlationId: 'c2',
        payload: { code: 'participant_paused' },
      })
    })

    test('of one who is paused already waits, too, and is refused for the pause', async () => {
      const { alice, bob, clock, settle } = await enter({ chat: one })
      await bob.accepted({ kind: 'participant.pause', to: ['alice'], payload: {} })
      expect(await alice.refused(chat('c1'))).toMatchObject({ code: 'participant_paused' })
      alice.send(chat('c2'))
      await settle()
      expect(errors(alice)).toHaveLength(1)
      clock.advance(1000)
      await alice.next(ofKind('system.error'))
      expect(errors(alice)).toEqual(['participant_paused', 'participant_paused'])
    })

    test('is dropped where its connection is cut off', async () => {
      const { alice, bob, clock, accepted, settle, connect } = await enter({ chat: one })
      for (const each of [chat('c1'), chat('c2'), request('r3')]) alice.send(each)
      await alice.next(byId('c1'))
      await settle()
      alice.ws.terminate()
      await bob.next(presence('leave', 'alice'))
      clock.advance(60_000)
      expect(await accepted()).toEqual(['c1'])
      const back = await connect('alice', { query: 'hold=1' })
      await back.accepted(chat('c2'))
    })

    test('comes before a close that is not read yet', async () => {
      const { alice, bob, clock, accepted, settle } = await enter({ chat: one })
      for (const each of [chat('c1'), chat('c2'), request('r3')]) alice.send(each)
      await alice.next(byId('c1'))
      await settle()
      alice.ws.close(1000)
      clock.advance(1000)
      await bob.next(presence('leave', 'alice'))
      expect(await accepted()).toEqual(['c1', 'c2', 'r3'])
    })

    test('is not accepted after a close frame that came with it', async () => {
      const clock = new FakeClock()
      const { url, connect } = await start({ participants, clock, rates: { alice: { chat: one } } })
      const bob = await connect('bob')
      const alice = new RawSocket(url).ask('GET /spaces/test/ws?hold=1', [
        'connection: Upgrade',
        'upgrade: websocket',
        'sec-websocket-version: 13',
        'sec-websocket-protocol: meup.v0.3',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        'authorization: Bearer token-of-alice',
      ])
      await alice.until(/system\.welcome/)
      const frames = [chat('c1'), chat('c2')].map((each) => frame(1, JSON.stringify(each)))
      alice.write(Buffer.concat([...frames, frame(8, Buffer.from([0x03, 0xe8]))]))
      await alice.closed
      await bob.next(presence('leave', 'alice'))
      clock.advance(60_000)
      await bob.accepted(hello)
      expect(said(bob.frames)).toContain('c1')
      expect(said(bob.frames)).not.toContain('c2')
    })

    test('is dropped where its participant is kicked', async () => {
      const { alice, bob, clock, accepted, settle } = await enter({ chat: one })
      await alice.accepted(chat('c1'))
      alice.send(chat('c2'))
      await settle()
      await bob.accepted({ kind: 'space.kick', payload: { participantId: 'alice' } })
      expect((await alice.closed).code).toBe(closeCodes.forbidden)
      clock.advance(60_000)
      expect(await accepted()).toEqual(['c1'])
    })

    test('is dropped where the gateway stops, which does not wait for it', async () => {
      const { alice, settle, close } = await enter({ chat: one })
      await alice.accepted(chat('c1'))
      alice.send(chat('c2'))
      await settle()
      await close()
      expect((await alice.closed).code).toBe(closeCodes.draining)
      expect(said(alice.frames)).not.toContain('c2')
    })
  })

  describe('is refused as ever', () => {
    test('who goes further than agentHops', async () => {
      const { alice, bob } = await enter({ chat: thirty }, { limits: { agentHops: 0 } })
      const { id } = await bob.accepted({ kind: 'chat', payload: { message: 'hm' } })
      expect(await alice.refused(chat('c1', { correlationId: id }))).toMatchObject({
        code: 'rate_limited',
        details: { limit: 'agentHops' },
      })
    })

    test('who has used up what it may add to the log', async () => {
      const { alice } = await enter({ log: { perSecond: 1, burst: 200 } })
      await alice.accepted(chat('c1'))
      expect(await alice.refused(chat('c2'))).toMatchObject({
        code: 'rate_limited',
        details: { class: 'log' },
      })
    })
  })
})

test('hold=0 is as without it', async () => {
  const { alice } = await enter({ chat: one }, { query: 'hold=0' })
  await alice.accepted(chat('c1'))
  expect(await alice.refused(chat('c2'))).toMatchObject({ code: 'rate_limited', retryAfterMs: 1000 })
})

test.for(['hold=2', 'hold=', 'hold=true'])('%s is refused', async (query) => {
  const { connectRequest } = await start({ participants })
  expect(await connectRequest({ token: 'token-of-alice', query })).toMatchObject({
    status: 400,
    body: { code: 'invalid_request' },
  })
})

test('a post does not wait', async () => {
  const { post } = await enter({ chat: one })
  expect(await post('alice', chat('c1'))).toMatchObject({ status: 201 })
  expect(await post('alice', chat('c2'))).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
})
