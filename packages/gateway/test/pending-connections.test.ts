import { Socket } from 'node:net'
import { type Authenticator, createGateway, memoryStore, type ServeOptions, serve } from '@meup/gateway'
import { createTestGateway, testSpaceConfig, testToken } from '@meup/gateway/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { MeterCounts } from '../src/core/metering.js'
import type { Gateway } from '../src/host/gateway.js'
import { PendingConnections } from '../src/transport/pending-connections.js'
import { range } from './client.js'
import { bearer } from './http-client.js'
import { RawSocket } from './raw-socket.js'

const participants = { alice: ['*'] }
const within = { timeout: 15_000, interval: 25 }

type Options = Partial<
  Pick<ServeOptions, 'gateway' | 'handshakeTimeoutMs' | 'idleTimeoutMs' | 'maxConnections' | 'trustProxy'>
>

async function start(options: Options = {}) {
  const limits = { connectionsPerParticipant: 1000 }
  const gateway = options.gateway ?? (await createTestGateway({ participants, limits }))
  const served = await serve({ gateway, host: '127.0.0.1', port: 0, ...options })
  onTestFinished(() => served.close())
  const { url } = served
  return {
    url,
    gateway,
    close: served.close,
    connectRequest: () => new RawSocket(url),
    /** Connects alice; resolves when she gets a welcome. */
    enter: () => new RawSocket(url).upgrade().until(/system\.welcome/),
  }
}

const closedOf = (sockets: readonly RawSocket[]): RawSocket[] => sockets.filter(({ isClosed }) => isClosed)

/** A gateway whose authenticator never answers. */
async function stalled() {
  const asked: string[] = []
  const authenticator: Authenticator = {
    authenticate: (_, token) => {
      asked.push(token)
      return new Promise(() => {})
    },
  }
  const spaces = [testSpaceConfig({ participants })]
  return { asked, gateway: await createGateway({ spaces, store: memoryStore(), authenticator }) }
}

describe('connections of one address on which nobody has been let in', () => {
  test('are 32 at most; a participant gets in beside them', async () => {
    const { gateway, connectRequest, enter } = await start()
    const silent = range(1, 45).map(connectRequest)
    await vi.waitFor(() => expect(closedOf(silent)).toHaveLength(13), within)
    for (const socket of closedOf(silent)) {
      expect(await socket.closed).toMatch(/^HTTP\/1\.1 429 .*\r\nretry-after: 1\r\n.*"code":"rate_limited"/s)
    }
    await enter()
    expect(closedOf(silent)).toHaveLength(13)
    expect(Object.fromEntries(gateway.refusedJoins.entries())).toEqual({ rate_limited: 13 })
  })

  test('are not those of participants, nor those that have left', async () => {
    const { connectRequest, enter } = await start()
    const inside = range(1, 40).map(() => connectRequest().upgrade())
    await Promise.all(inside.map((socket) => socket.until(/system\.welcome/)))
    const polite = range(1, 40).map(() =>
      connectRequest().ask('GET /spaces/test/participants', [`authorization: Bearer ${testToken('alice')}`]),
    )
    await Promise.all(polite.map((socket) => socket.until(/"participants"/)))
    for (const socket of range(1, 40).map(connectRequest)) socket.socket.destroy()
    const silent = range(1, 33).map(connectRequest)
    await vi.waitFor(() => expect(closedOf(silent)).toHaveLength(1), within) // All connections were judged by then.
    expect(closedOf([...inside, ...polite])).toEqual([])
    await enter()
  })

  test('no longer count as slow once somebody has been let in', () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const refusedJoins = new MeterCounts()
    const gateway = { refusedJoins } as Gateway
    const doorstep = new PendingConnections({ gateway, maxConnections: 1000, trustProxy: false })
    const arrive = () => {
      const socket = new Socket()
      doorstep.arrived(socket)
      return socket
    }
    const slow = range(1, 32).map(arrive)
    vi.advanceTimersByTime(1100)
    arrive()
    for (const socket of slow) doorstep.onAuthenticated(socket)
    vi.advanceTimersByTime(1100)
    expect([...refusedJoins.entries()]).toEqual([])
  })

  test('count also where they have been answered, and wait for more', async () => {
    const { connectRequest } = await start()
    const healthy = range(1, 40).map(() => connectRequest().ask('GET /healthz'))
    await Promise.all(healthy.map((socket) => socket.until(/"ok"/)))
    await vi.waitFor(() => expect(closedOf(healthy).length).toBeGreaterThanOrEqual(8), within)
    const refused = await Promise.all(closedOf(healthy).map(({ closed }) => closed))
    expect(refused.filter((text) => text.includes('429'))).toHaveLength(8)
  })

  test('may be many more for the moment that they take to ask', async () => {
    const { url } = await start()
    const headers = bearer('alice')
    const sockets = range(1, 300).map(
      () => new WebSocket(`${url.replace('http', 'ws')}/spaces/test/ws`, 'meup.v0.3', { headers }),
    )
    onTestFinished(() => {
      for (const socket of sockets) socket.terminate()
    })
    await Promise.all(
      sockets.map(
        (socket) => new Promise((resolve, reject) => socket.on('message', resolve).on('error', reject)),
      ),
    )
  })

  test('are the proxy’s business where there is one', async () => {
    const { connectRequest, enter } = await start({ trustProxy: true, handshakeTimeoutMs: 1500 })
    const silent = range(1, 45).map(connectRequest)
    await Promise.all(silent.map(({ closed }) => closed)).then((all) => {
      for (const received of all) expect(received).toMatch(/^HTTP\/1\.1 408 /)
    })
    await enter()
  })
})

test('all connections together are so many; one more is told to come later', async () => {
  const { connectRequest, enter } = await start({ maxConnections: 8 })
  const inside: RawSocket[] = []
  for (const _ of range(1, 8)) {
    const socket = connectRequest().upgrade()
    await socket.until(/system\.welcome/)
    inside.push(socket)
  }
  const refused = await connectRequest().closed
  expect(refused).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1\r\n.*"code":"unavailable"/s)
  inside[0]?.socket.destroy()
  await vi.waitFor(enter, within)
})

describe('a client that takes its time', () => {
  test('to say what it wants is cut off, whether it is silent or sends a byte every few seconds', async () => {
    const { connectRequest, enter } = await start({ handshakeTimeoutMs: 300 })
    const silent = connectRequest()
    const slow = connectRequest()
    const drip = setInterval(() => slow.write('a'), 20)
    onTestFinished(() => clearInterval(drip))
    slow.write('GET /spaces/test/participants HTTP/1.1\r\nx-slow: ')
    for (const { closed } of [silent, slow]) expect(await closed).toMatch(/^HTTP\/1\.1 408 /)
    await enter()
  })

  test('to say it a second time is cut off as well', async () => {
    const { connectRequest } = await start({ handshakeTimeoutMs: 300 })
    const socket = connectRequest().ask('GET /healthz')
    await socket.until(/"ok"/)
    socket.write('GET /healthz HTTP/1.1\r\nx-slow: ')
    expect(await socket.closed).toMatch(/"ok".*HTTP\/1\.1 408 /s)
  })

  test('is not waited for where who it is cannot be found out', async () => {
    const { asked, gateway } = await stalled()
    const { connectRequest } = await start({ gateway, handshakeTimeoutMs: 300 })
    expect(await connectRequest().upgrade('any-token').closed).toBe('')
    expect(asked).toEqual(['any-token'])
  })
})

describe('before it is known who sends it', () => {
  test.for([
    ['its length is announced', 'content-length: 1000000'],
    ['its length is not announced', 'transfer-encoding: chunked'],
  ])('no body is waited for: %s', async ([, header = '']) => {
    const { connectRequest } = await start()
    const post = (token: string) =>
      connectRequest().ask('POST /spaces/test/envelopes', [header, `authorization: Bearer ${token}`])
    expect(await post('wrong').until(/"code"/)).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('nobody asks much more before the first answer', async () => {
    const { asked, gateway } = await stalled()
    const { connectRequest } = await start({ gateway })
    const socket = connectRequest()
    for (const n of range(1, 100)) {
      socket.ask('GET /spaces/test/participants', [`authorization: Bearer token-${n}`])
    }
    await socket.closed
    expect(asked.length).toBe(16)
  })
})

test('a gateway that stops waits for those it has told so, and not for a connection that has sent nothing', {
  timeout: 20_000,
}, async () => {
  const { close, connectRequest } = await start({ idleTimeoutMs: 600_000 })
  const silent = connectRequest()
  const member = connectRequest().upgrade()
  await member.until(/system\.welcome/)
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const closing = close()
  await silent.closed
  expect(member.isClosed).toBe(false)
  await vi.advanceTimersByTimeAsync(1000)
  await closing
  await member.closed
})
