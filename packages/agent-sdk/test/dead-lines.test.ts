import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { connect, type SpaceClient } from '@meup/agent-sdk'
import type { DialRequest } from '@meup/agent-sdk/internal'
import { testToken } from '@meup/gateway/testing'
import { type AnyEnvelope, Kind } from '@meup/protocol'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { type Pace, proxy } from '../../../test/support/proxy.js'
import { deferred } from './support/deferred.js'
import { eventually } from './support/eventually.js'
import { byId, recordEnvelopes } from './support/record-envelopes.js'
import { standing } from './support/standing.js'

const participants = { ana: ['*'], bob: ['*'], bot: ['*'] }

/** Waits between reconnect attempts are random, so this makes them short. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0.01))
afterEach(() => void vi.restoreAllMocks())

const enter = (url: string, as: string, how: Partial<DialRequest> = {}): Promise<SpaceClient> =>
  connect({ url, space: 'test', token: testToken(as), ...how })

const texts = (all: readonly AnyEnvelope[]): string[] =>
  all.flatMap((e) => (e.kind === Kind.chat ? [e.payload.message] : []))

/** A server that accepts connections and never sends data. */
async function mute(port = 0) {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).resume()
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a far end that accepts and never answers the handshake is unreachable', async () => {
  await using server = await mute()
  const deadlines = { handshakeMs: 200 }
  await expect(enter(server.url, 'ana', { deadlines })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'unreachable',
    retryable: true,
  })
  await eventually(() => expect([...server.sockets].every(({ destroyed }) => destroyed)).toBe(true))
})

test('a far end that answers the handshake and sends no welcome is unreachable', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const closed = deferred()
  server.on('connection', (socket) => socket.on('close', () => closed.resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await expect(enter(url, 'ana', { deadlines: { welcomeMs: 200 } })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'unreachable',
  })
  await closed.promise
  server.close()
})

test('a client comes back after its gateway was a far end that answered nothing', async () => {
  await using gateway = await standing({ participants })
  const line = await proxy(gateway.port)
  await using ana = await enter(line.url, 'ana', { deadlines: { handshakeMs: 3000 } })
  await using bob = await enter(gateway.url, 'bob')
  const heard = recordEnvelopes(ana)
  const reasons: string[] = []
  ana.on('reconnecting', (_, reason) => void reasons.push(reason))
  const port = Number(new URL(line.url).port)
  const silent = { server: undefined as Awaited<ReturnType<typeof mute>> | undefined }
  await line[Symbol.asyncDispose]()
  silent.server = await mute(port)
  await eventually(() => expect(silent.server?.sockets.size).toBeGreaterThan(1))
  await silent.server[Symbol.asyncDispose]()
  const { id } = await bob.chat('anybody?')
  await using _again = await proxy(gateway.port, port)
  await heard.until(byId(id))
  expect(texts(heard.all)).toEqual(['anybody?'])
})

/** A gateway with a short heartbeat interval, and a client that is connected through a proxy. */
async function pinged(silenceMs: number, pace?: Pace, heartbeatMs = 300) {
  const gateway = await standing({ participants, heartbeatMs })
  const line = await proxy(gateway.port, 0, pace)
  const ana = await enter(line.url, 'ana', { deadlines: { silenceMs } })
  const bob = await enter(gateway.url, 'bob')
  const reasons: string[] = []
  ana.on('reconnecting', (_, reason) => void reasons.push(reason))
  return {
    ...{ gateway, line, ana, bob, reasons },
    async [Symbol.asyncDispose]() {
      for (const client of [ana, bob]) client.close()
      await line[Symbol.asyncDispose]()
      await gateway.stop()
    },
  }
}

test('a line that falls silent is dialled again: nothing is lost, and nothing comes twice', async () => {
  await using here = await pinged(1500)
  const { ana, bob, line } = here
  const [heard, log] = [recordEnvelopes(ana), recordEnvelopes(bob)]
  await bob.chat('before')
  await heard.until((e) => texts([e]).includes('before'))
  const again = new Promise<void>((resolve) => ana.once('connected', () => resolve()))
  line.freeze()
  line.thaw()
  const sent = ana.chat('mine')
  await bob.chat('missed')
  await again
  const mine = await sent
  await log.until(byId(mine.id))
  const last = await bob.chat('after')
  await heard.until(byId(last.id))
  expect(texts(heard.all)).toEqual(['before', 'missed', 'mine', 'after'])
  expect(texts(log.all)).toEqual(['before', 'missed', 'mine', 'after'])
})

test('pings alone keep a quiet line', async () => {
  await using here = await pinged(1200)
  const pings = deferred()
  setTimeout(() => pings.resolve(), 3000)
  await pings.promise
  expect(here.reasons).toEqual([])
})

test('a large frame that trickles in for longer than the limit is not cut', async () => {
  // Pings and pongs wait behind the large frame, so only its own bytes show that the connection works.
  await using here = await pinged(4000, { chunkBytes: 16 * 1024, everyMs: 20 }, 5000)
  const { ana, gateway } = here
  await using bot = await enter(gateway.url, 'bot')
  const text = 'x'.repeat(4 * 1024 * 1024 - 2000)
  bot.tool('shoot', {}, () => text)
  const start = Date.now()
  expect((await ana.call('bot/shoot')).text).toBe(text)
  expect(Date.now() - start).toBeGreaterThan(4000)
  expect(here.reasons).toEqual([])
})

test('reconnectNow takes the place of an attempt that has no answer', async () => {
  await using gateway = await standing({ participants })
  await using line = await proxy(gateway.port)
  await using ana = await enter(line.url, 'ana')
  const attempt = new Promise((resolve) => ana.once('reconnecting', resolve))
  line.freeze()
  line.cut()
  await attempt
  const again = new Promise<void>((resolve) => ana.once('connected', () => resolve()))
  // Lets the attempt begin; its handshake is not answered.
  await new Promise((resolve) => setTimeout(resolve, 200))
  line.thaw()
  ana.reconnectNow()
  await again
})

describe('reconnect', () => {
  test('retries: 0 closes with the first loss', async () => {
    await using gateway = await standing({ participants })
    await using line = await proxy(gateway.port)
    await using ana = await enter(line.url, 'ana', { reconnect: { retries: 0 } })
    const closed = ana.closed()
    line.cut()
    expect(await closed).toMatchObject({ name: 'ConnectionError', code: 'unreachable' })
  })

  test('shouldRetry is asked with the error and the number of the attempt; false closes', async () => {
    await using gateway = await standing({ participants })
    const line = await proxy(gateway.port)
    const asked: unknown[] = []
    const shouldRetry = (error: Error, attempt: number): boolean => {
      asked.push([error.name, attempt])
      return attempt < 3
    }
    const waits: number[] = []
    await using ana = await enter(line.url, 'ana', {
      reconnect: { minMs: 1, maxMs: 2, shouldRetry },
      onReconnecting: (inMs) => void waits.push(inMs),
    })
    const closed = ana.closed()
    await line[Symbol.asyncDispose]()
    expect(await closed).toMatchObject({ code: 'unreachable' })
    expect(asked).toEqual([1, 2, 3].map((attempt) => ['ConnectionError', attempt]))
    expect(waits).toEqual([0.01, 0.02])
  })

  test('a gateway that cannot be reached at first is not dialled again', async () => {
    await using server = await mute()
    const how = { deadlines: { handshakeMs: 100 }, reconnect: { retries: 5 } }
    await expect(enter(server.url, 'ana', how)).rejects.toMatchObject({ code: 'unreachable' })
    expect(server.sockets.size).toBe(1)
  })

  test.each([
    { reconnect: { retries: -1 } },
    { reconnect: { minMs: Number.NaN } },
    { deadlines: { silenceMs: 0 } },
  ])('%j is refused', async (how) => {
    await expect(enter('http://127.0.0.1:1', 'ana', how)).rejects.toMatchObject({ code: 'not_configured' })
  })
})
