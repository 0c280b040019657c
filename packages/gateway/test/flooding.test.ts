import { once } from 'node:events'
import { FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { closeCodes, type Rate } from '@meup/protocol'
import { describe, expect, test, vi } from 'vitest'
import { byId, type Client, ofKind, range, said } from './client.js'
import { bearer } from './http-client.js'
import { frame, RawSocket } from './raw-socket.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }
const hello = { kind: 'chat', payload: { message: 'hello' } }
const within = { timeout: 10_000, interval: 1 }
const [text, ping] = [1, 9]
const repeated = (count: number, piece: Uint8Array): Buffer => Buffer.concat(Array(count).fill(piece))

async function enter(
  own: Partial<Record<'frames' | 'bytes' | 'chat', Rate>>,
  more: { heartbeatMs?: number } = {},
) {
  const clock = new FakeClock()
  const { rates } = testSpaceConfig({ participants }).limits
  const running = await start({ participants, clock, limits: { rates: { ...rates, ...own } }, ...more })
  const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
  return { ...running, clock, alice, bob }
}

/** Resolves when all data that has arrived was read, or reading is paused. */
async function settle(bob: Client): Promise<void> {
  for (const _ of range(1, 3)) await bob.accepted(hello)
}

describe.for<[what: string, piece: Buffer]>([
  ['10,000 frames', frame(text, '{')],
  ['10,000 pings', frame(ping, '')],
])('%s in one segment', ([, piece]) => {
  test('let others go between them', async () => {
    const { url, bob, gateway } = await start({ participants }).then(async (running) => ({
      ...running,
      bob: await running.connect('bob'),
    }))
    const alice = await new RawSocket(url).upgrade()
    await alice.until(/system\.welcome/)
    let received = 0
    alice.socket.on('data', (data: Buffer) => {
      received += data.length
    })
    alice.write(repeated(10_000, piece))
    await once(alice.socket, 'data')
    await bob.accepted(hello)
    const before = received
    const refused = () => gateway.report()[0]?.metrics.refused.entries() ?? []
    const count = () => Object.fromEntries(refused()).invalid_json ?? 0
    expect(count()).toBeLessThan(5000)
    // All frames are answered in the end, and most of them after the other participant's message.
    await vi.waitFor(() => expect(received).toBeGreaterThan(2 * before), within)
  })
})

test('what comes in one segment is read no further once it has cost too much', async () => {
  const clock = new FakeClock()
  const work = { perSecond: 1, burst: 500 }
  const { url, connect, gateway } = await start({ participants, clock, rates: { alice: { work } } })
  const bob = await connect('bob')
  const alice = await new RawSocket(url).upgrade()
  await alice.until(/system\.welcome/)
  const correlationId = range(1, 16).map((n) => `${n}`.padStart(60, 'x'))
  const dear = range(1, 40).map((n) => JSON.stringify({ ...hello, id: `dear${n}`, correlationId }))
  alice.write(Buffer.concat(dear.map((each) => frame(text, each))))
  await bob.next(byId('dear1'))
  await settle(bob)
  expect(said(bob.frames)).not.toContain('dear10')
  expect(gateway.report()[0]?.metrics.heldReads).toBeGreaterThan(0)
})

describe('a socket whose sender owes frames', () => {
  const send: Record<string, (alice: Client) => void> = {
    'for what cannot be read': (alice) => alice.send('{'),
    'for what is over its rate': (alice) =>
      alice.send({ id: 'again', ...hello, payload: { message: 'other' } }),
    'for what it sends again': (alice) => alice.send({ id: 'again', ...hello }),
    'for pings': (alice) => alice.ws.ping(),
    'for pongs': (alice) => alice.ws.pong(),
  }

  test.for(Object.entries(send))('%s is not read until they are paid', async ([, act]) => {
    const { alice, bob, clock } = await enter({
      frames: { perSecond: 10, burst: 20 },
      chat: { perSecond: 1, burst: 20 },
    })
    await alice.accepted({ id: 'again', ...hello })
    for (const _ of range(1, 30)) act(alice)
    alice.send({ id: 'held', kind: 'mcp.request', payload: { method: 'ping' } })
    await settle(bob)
    // `held` may still be read together with the frames before it; `later` arrives after reading has stopped.
    alice.send({ id: 'later', kind: 'mcp.request', payload: { method: 'ping' } })
    await settle(bob)
    expect(said(bob.frames)).not.toContain('later')
    clock.advance(1100)
    await alice.next(byId('later'))
  })

  /**
   * Sends frames faster than their rate, for this number of milliseconds by the clock. Each time the gateway has stopped
   * reading, waits until the rate allows frames again, and `pauseMs` longer.
   */
  async function flood(ms: number, pauseMs: number) {
    const frames = { perSecond: 10, burst: 20 }
    const { alice, bob, clock, connect, gateway } = await enter({ frames })
    const innocent = await connect('alice')
    const start = clock.now()
    const tally = () => gateway.report()[0]?.metrics
    const refused = (): number => Object.fromEntries(tally()?.refused.entries() ?? []).invalid_json ?? 0
    let [isClosed, tokens] = [false, frames.burst]
    void alice.closed.then(() => {
      isClosed = true
    })
    while (!isClosed && clock.now() < start + ms) {
      const [holds, before] = [tally()?.heldReads, refused()]
      for (const _ of range(1, 60)) alice.send('{')
      await vi.waitFor(() => expect(isClosed || tally()?.heldReads !== holds).toBe(true), within)
      tokens -= refused() - before
      const waitMs = (-tokens / frames.perSecond) * 1000 + pauseMs
      tokens = Math.min(frames.burst, tokens + (waitMs / 1000) * frames.perSecond)
      clock.advance(waitMs)
    }
    return { alice, bob, clock, innocent, isClosed, elapsedMs: clock.now() - start }
  }

  test('is closed 4429 where it goes on for 30 seconds; others of its participant are not', async () => {
    const { alice, innocent, bob, clock, elapsedMs } = await flood(120_000, 0)
    expect((await alice.closed).code).toBe(closeCodes.tooMany)
    expect(elapsedMs).toBeGreaterThan(30_000)
    clock.advance(60_000)
    await innocent.accepted(hello)
    await bob.accepted(hello)
  })

  test('is not where it pauses', async () => {
    const { isClosed } = await flood(120_000, 2000)
    expect(isClosed).toBe(false)
  })
})

test('a sender of much is read as fast as its bytes allow: nothing is lost, and it stays', async () => {
  const { alice, bob, clock } = await enter({ bytes: { perSecond: 1000, burst: 1000 } }, { heartbeatMs: 20 })
  const ids = range(1, 200).map((count) => `m${count}`)
  for (const id of ids) alice.send({ id, kind: 'chat', payload: { message: 'x'.repeat(1000) } })
  await settle(bob)
  expect(said(bob.frames)).not.toContain('m200')
  for (const _ of range(1, 4)) await once(bob.ws, 'ping')
  while (!said(alice.frames).includes('m200')) {
    clock.advance(1000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(said(alice.frames).filter((id) => id.startsWith('m'))).toEqual(ids)
  expect(alice.frames.filter(ofKind('system.error'))).toEqual([])
  clock.advance(60_000)
  await alice.accepted(hello)
})

describe('over HTTP', () => {
  test('what is refused or repeats what was accepted costs frames; who owes them is told nothing until they are paid', async () => {
    const { clock, url, post, bob } = await enter({ frames: { perSecond: 1, burst: 4 } })
    const ask = async (participant = 'alice') =>
      (await fetch(`${url}/spaces/test/participants`, { headers: bearer(participant) })).status
    expect(await post('alice', { id: 'once', ...hello })).toMatchObject({ status: 201 })
    for (const _ of range(1, 2)) {
      expect(await post('alice', 'nothing')).toMatchObject({ status: 400 })
      expect(await post('alice', { id: 'once', ...hello })).toMatchObject({ status: 201 })
    }
    expect(await ask()).toBe(200)
    const repeats = Array.from({ length: 3 }, () => ({ id: 'once', ...hello }))
    expect(await post('alice', repeats)).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', class: 'frames', failedIndex: 1, retryAfterMs: 1000 },
    })
    expect(await post('alice', hello)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect([await ask(), await ask('bob')]).toEqual([429, 200])
    clock.advance(1000)
    expect(await ask()).toBe(200)
    await bob.accepted(hello)
  })
})
