import { testSpaceConfig } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, range, type Sent, seqs } from './client.js'
import { asking, type ServerSentEvent } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })
const envelopeOf = ({ data }: ServerSentEvent) => JSON.parse(data) as Envelope & { seq: number }

/** A space in which alice has sent m1 to m5 (seq 4 to 8). Before them: two envelopes of the space, and alice's join. */
async function fiveMessages() {
  const running = await start({ participants })
  const alice = await running.connect('alice')
  for (const count of range(1, 5)) await alice.accepted({ id: `m${count}`, ...chat() })
  return { ...running, alice, bob: asking(running.url, 'bob') }
}

describe('GET events', () => {
  test('is a stream of envelopes, each with its seq as id, and begins with what comes', async () => {
    const { url, alice } = await fiveMessages()
    const response = await fetch(`${url}/spaces/test/events`, {
      headers: { authorization: 'Bearer token-of-bob' },
    })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('cache-control')).toBe('no-store')
    await response.body?.cancel()

    const stream = await asking(url, 'bob').events()
    const sent = await alice.accepted(chat())
    const event = await stream.next()
    expect([event.event, event.id]).toEqual(['envelope', `${sent.seq}`])
    expect(event.data).toBe(alice.texts.get(alice.frames.at(-1) as Envelope))
  })

  test.for<[query: string, headers: Record<string, string>, first: number]>([
    ['after=0', {}, 1],
    ['after=5', {}, 6],
    ['after=8', {}, 9],
    ['', { 'last-event-id': '6' }, 7],
    ['after=2', { 'last-event-id': '6' }, 7],
    ['after=99', { 'last-event-id': '0' }, 1],
  ])('goes on with %s and %o', async ([query, headers, first]) => {
    const { alice, bob } = await fiveMessages()
    const stream = await bob.events(query, headers)
    const { id, seq } = await alice.accepted(chat())
    expect(seqs(await stream.envelopesUntil(id))).toEqual(range(first, seq))
  })

  test.for<[query: string, headers: Record<string, string>]>([
    ['after=9', {}],
    ['', { 'last-event-id': '9007199254740991' }],
    ['after=5&epoch=another', {}],
    ['epoch=another', { 'last-event-id': '5' }],
  ])('with %s and %o says that the place is lost, then gives everything', async ([query, headers]) => {
    const { alice, bob } = await fiveMessages()
    const stream = await bob.events(query, headers)
    const lost = await stream.next()
    expect([lost.event, lost.id]).toEqual(['lost', undefined])
    expect(JSON.parse(lost.data)).toEqual({ epoch: alice.welcome.space.epoch, from: 1, to: 8 })
    expect(seqs(await stream.envelopesUntil('m5'))).toEqual(range(1, 8))
  })

  test('knows its own epoch', async () => {
    const { alice, bob } = await fiveMessages()
    const stream = await bob.events(`after=7&epoch=${alice.welcome.space.epoch}`)
    expect(envelopeOf(await stream.next())).toMatchObject({ id: 'm5' })
  })

  test.for<[query: string, headers: Record<string, string>, says: string]>([
    ['', { 'last-event-id': 'x' }, 'Last-Event-ID must be'],
    ['', { 'last-event-id': '-1' }, 'Last-Event-ID must be'],
    ['', { 'last-event-id': '99999999999999999' }, 'Last-Event-ID must be'],
    ['after=x', { 'last-event-id': '3' }, 'after must be'],
    ['after=5', {}, 'epoch'],
    ['after=5&epoch=', { 'last-event-id': 'x' }, 'Last-Event-ID must be'],
    ['limit=3', {}, 'after, epoch, kind'],
    ['reasoning=x', {}, 'reasoning'],
  ])('refuses %s and %o', async ([query, headers, says]) => {
    const { bob } = await fiveMessages()
    const response = await bob.get(`/events?${query}`, headers)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: 'invalid_request', detail: expect.stringContaining(says) },
    ])
  })

  test('cuts by the same filters as history, live and replayed alike', async () => {
    const { url, connect } = await start({ participants, limits: { connectionsPerParticipant: 99 } })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const carol = asking(url, 'carol')
    const queries = [
      'kind=chat,reasoning.thought',
      'from=bob',
      'context=run',
      'correlationId=run',
      'reasoning=boundaries',
      'reasoning=none',
      'kind=chat&from=alice&context=run',
      'kind=mcp.request',
    ]
    const live = await Promise.all(queries.map((query) => carol.events(query)))
    await alice.accepted({ id: 'run', kind: 'reasoning.start' })
    await alice.accepted({ kind: 'reasoning.thought', context: 'run' })
    await bob.accepted({ kind: 'reasoning.start', context: 'run', correlationId: 'run' })
    await alice.accepted({ ...chat(), context: 'run/x' })
    await bob.accepted({ ...chat(), context: 'runner' })
    await bob.accepted({ kind: 'mcp.request', to: ['carol'], payload: { method: 'x' } })
    await bob.accepted({ ...chat(), to: ['alice'], context: 'run' })
    await alice.accepted({ kind: 'reasoning.conclusion', context: 'run' })
    const { seq } = await alice.accepted(chat('mark'))
    for (const [at, query] of queries.entries()) {
      const { envelopes } = await carol.history(`${query}&after=4`)
      const last = envelopes.at(-1)?.id ?? ''
      expect(await live[at]?.envelopesUntil(last)).toEqual(envelopes)
      expect(await (await carol.events(`${query}&after=4`)).envelopesUntil(last)).toEqual(envelopes)
      expect(envelopes.length).toBeLessThan(seq - 4)
    }
  })

  test('keeps an event on its lines, whatever white space its envelope was sent with', async () => {
    const { alice, bob } = await fiveMessages()
    const stream = await bob.events()
    alice.send('{"id":"broken","kind":"chat","payload":{\n "message":\r"a"\n\n}}')
    const frame = await alice.next(byId('broken'))
    expect(envelopeOf(await stream.next())).toEqual(frame)
  })

  test('makes nobody present, but counts as a connection, until it ends', async () => {
    const { url, connect, connectRequest, gateway } = await start({
      participants,
      limits: { connectionsPerParticipant: 2 },
    })
    const alice = await connect('alice')
    const bob = asking(url, 'bob')
    const streams = [await bob.events(), await bob.events()]
    expect(await bob.json('/participants')).toMatchObject({
      participants: [{ status: 'present' }, { id: 'bob', status: 'away' }, {}],
    })
    expect((await alice.accepted(chat())).seq).toBe(4)
    expect(gateway.report()).toMatchObject([{ connections: 3 }])

    const response = await bob.get('/events')
    expect([response.status, await response.json()]).toMatchObject([429, { code: 'rate_limited' }])
    expect(await connectRequest({ token: 'token-of-bob' })).toMatchObject({ status: 429 })
    for (const stream of streams) stream.leave()
    await expect.poll(() => gateway.report()).toMatchObject([{ connections: 1 }])
    await (await connect('bob')).accepted(chat())
  })

  test('costs a join', async () => {
    const rates = { bob: { control: { perSecond: 0.001, burst: 1 } } }
    const { url } = await start({ participants, rates })
    await asking(url, 'bob').events()
    const response = await asking(url, 'bob').get('/events')
    expect([response.status, await response.json()]).toMatchObject([429, { code: 'rate_limited' }])
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(100)
  })

  test('lets nobody in without a token', async () => {
    const { url, gateway } = await start({ participants })
    for (const headers of [{}, { authorization: 'Bearer wrong' }]) {
      const response = await fetch(`${url}/spaces/test/events`, { headers })
      expect([response.status, await response.json()]).toMatchObject([401, { code: 'unauthorized' }])
    }
    expect(gateway.report()).toMatchObject([{ connections: 0 }])
    const response = await fetch(`${url}/spaces/nowhere/events`)
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
  })

  test('opens nothing when only its head is asked for', async () => {
    const { bob, gateway } = await fiveMessages()
    const response = await bob.get('/events', {}, 'HEAD')
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(gateway.report()).toMatchObject([{ connections: 1 }])
  })

  test('says from time to time that it is still there', async () => {
    const { url } = await start({ participants, eventHeartbeatMs: 5 })
    const stream = await asking(url, 'bob').events()
    for (let beat = 0; beat < 3; beat++) expect(await stream.comment()).toMatch(/^:/)
  })

  test('ends when its participant is let in no more, and shows what its participant may read by now', async () => {
    const { url, connect, gateway } = await start({ participants })
    const alice = await connect('alice')
    const [bob, carol] = [await asking(url, 'bob').events(), await asking(url, 'carol').events()]
    const psst = { ...chat(), to: ['alice'] }
    await alice.accepted({ id: 'before', ...psst })
    const changed = { alice: ['*'], bob: ['observe.targeted'] }
    await gateway.reconfigure([testSpaceConfig({ participants: changed })])
    await alice.accepted({ id: 'after', ...psst })

    const goodbye = (await carol.rest()).at(-1)
    expect([goodbye?.event, JSON.parse(goodbye?.data ?? '')]).toMatchObject(['error', { code: 4401 }])
    const shown = await bob.envelopesUntil('after')
    expect(shown.map(({ kind, id }) => (kind === 'chat' ? id : kind))).toEqual([
      'system.space',
      'system.presence',
      'after',
    ])
  })

  test('ends with a word when the gateway stops', async () => {
    const { bob, close } = await fiveMessages()
    const stream = await bob.events('after=7')
    const closing = close()
    const events = await stream.rest()
    expect(events.map(({ event }) => event)).toEqual(['envelope', 'error'])
    expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ code: 1001 })
    await closing
  })
})
