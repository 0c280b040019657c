import { type EnvelopeLog, memoryStore, serve } from '@meup/gateway'
import { createTestGateway, testToken } from '@meup/gateway/testing'
import { defaultLimits, defaultRates } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { range } from './client.js'
import { bearer } from './http-client.js'
import { RawSocket } from './raw-socket.js'

const participants = { alice: ['*'], bob: ['*'] }
const within = { timeout: 15_000, interval: 25 }
const megabyte = 1024 * 1024

async function running({ idleTimeoutMs = 30_000, isMetered = false } = {}) {
  const limits = isMetered ? { rates: defaultRates } : {}
  const [store, begun] = counting()
  const gateway = await createTestGateway({ participants, guest: { capabilities: [] }, limits, store })
  const served = await serve({ gateway, host: '127.0.0.1', port: 0, idleTimeoutMs })
  onTestFinished(() => served.close())
  const { url } = served
  const connectRequest = () => new RawSocket(url)
  const post = (length: number, who = 'alice') =>
    connectRequest().ask('POST /spaces/test/envelopes', [
      `authorization: Bearer ${testToken(who)}`,
      'content-type: application/json',
      `content-length: ${length}`,
    ])
  const said = async (who: string, bytes: number) =>
    fetch(`${url}/spaces/test/envelopes`, {
      method: 'POST',
      headers: bearer(who),
      body: JSON.stringify({ kind: 'chat', payload: { message: 'x'.repeat(bytes) } }),
    })
  return { url, connectRequest, post, said, begun }
}

/** A memory store, and a function that returns how many answers have begun to read the log. */
function counting(): [ReturnType<typeof memoryStore>, () => number] {
  const inner = memoryStore()
  let begun = 0
  const open = async (space: string): Promise<EnvelopeLog> => {
    const log = await inner.open(space)
    const read: EnvelopeLog['read'] = (query) => {
      if (query.after === 0 && query.only === 'headings') begun++
      return log.read(query)
    }
    return Object.assign(Object.create(log) as EnvelopeLog, { read })
  }
  return [{ open, close: () => inner.close() }, () => begun]
}

const closedOf = (sockets: readonly RawSocket[]): RawSocket[] => sockets.filter(({ isClosed }) => isClosed)
const whole = `${'x'.repeat(200_000)}"`
const messagesIn = (text: string): number => text.split(whole).length - 1
const statusOf = (socket: RawSocket): Promise<string> =>
  socket.until(/^HTTP\/1\.1 \d+ .*\r\n\r\n/s).then((text) => text.slice(9, 12))

describe('what one rateLimitKey has under way over HTTP', () => {
  test('is 16 requests at most; others go on, and so does whoever has its answers', async () => {
    const { url, post, connectRequest } = await running()
    const slow = range(1, 16).map(() => post(10))
    const isFull = async () =>
      (await fetch(`${url}/spaces/test/participants`, { headers: bearer('alice') })).status
    await vi.waitFor(async () => expect(await isFull()).toBe(429), within)
    const refused = await fetch(`${url}/spaces/test/participants`, { headers: bearer('alice') })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({
      code: 'rate_limited',
      detail: fillIn(texts.manyRequests, { account: 'alice of test', requests: 16 }),
    })
    expect((await fetch(`${url}/spaces/test/participants`, { headers: bearer('bob') })).status).toBe(200)
    expect(await statusOf(connectRequest().ask('GET /spaces/test/participants'))).toBe('200')
    for (const { socket } of slow) socket.destroy()
    await vi.waitFor(async () => expect(await isFull()).toBe(200), within)
  })

  test('is 16 MiB of bodies at most', async () => {
    const { post } = await running()
    const first = post(10 * megabyte).write('[')
    const second = post(7 * megabyte)
    expect(await statusOf(second)).toBe('429')
    const other = post(7 * megabyte, 'bob').write('[1')
    first.socket.destroy()
    await vi.waitFor(
      async () =>
        expect(await statusOf(post(16 * megabyte).write(Buffer.alloc(16 * megabyte, '[')))).toBe('400'),
      within,
    )
    expect(other.isClosed).toBe(false)
  })

  test('is two large answers at once; the others come when those are read', async () => {
    const { url, said, connectRequest, begun } = await running()
    for (const bytes of range(1, 40).map(() => 200_000)) await said('bob', bytes)
    const headers = [`authorization: Bearer ${testToken('alice')}`, 'connection: close']
    const asked = range(1, 10).map(() => {
      const each = connectRequest()
      each.socket.pause()
      return each.ask('GET /spaces/test/envelopes?limit=1000&kind=chat', headers)
    })
    await vi.waitFor(() => expect(begun()).toBe(2), within)
    expect((await fetch(`${url}/spaces/test/contexts`, { headers: bearer('bob') })).status).toBe(200)
    expect(begun()).toBe(2)
    for (const { socket } of asked) socket.resume()
    for (const text of await Promise.all(asked.map(({ closed }) => closed))) {
      expect(text).toMatch(/^HTTP\/1\.1 200 /)
      expect(messagesIn(text)).toBe(40)
    }
  })

  test('does not count streams of events', async () => {
    const { url } = await running()
    const opened = await Promise.all(
      range(1, 8).map(() => fetch(`${url}/spaces/test/events`, { headers: bearer('alice') })),
    )
    expect(opened.map(({ status }) => status)).toEqual(range(1, 8).map(() => 200))
    const statuses = range(1, 16).map(
      async () => (await fetch(`${url}/spaces/test/participants`, { headers: bearer('alice') })).status,
    )
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]))
    await Promise.all(opened.map(({ body }) => body?.cancel()))
  })
})

describe('a connection on which nothing moves', () => {
  test('is cut where a body does not go on', async () => {
    const { post, said } = await running({ idleTimeoutMs: 300 })
    const halves = range(1, 3).map(() => post(100).write('{'))
    await vi.waitFor(() => expect(closedOf(halves)).toHaveLength(3), within)
    expect((await said('alice', 10)).status).toBe(201)
  })

  test('is cut where an answer is not taken, and makes room for others', async () => {
    const { connectRequest, said } = await running({ idleTimeoutMs: 300 })
    for (const bytes of range(1, 40).map(() => 200_000)) await said('bob', bytes)
    const path = 'GET /spaces/test/envelopes?limit=1000'
    const deaf = range(1, 6).map(() => {
      const each = connectRequest()
      each.socket.pause()
      return each.ask(path)
    })
    const last = connectRequest().ask(path, ['connection: close'])
    expect(await last.closed).toMatch(/^HTTP\/1\.1 200 /)
    for (const { socket } of deaf) socket.resume()
    for (const text of await Promise.all(deaf.map(({ closed }) => closed))) {
      expect(messagesIn(text)).toBeLessThan(40)
    }
  })

  test('is left alone where it is a stream of events, or a socket', async () => {
    const { connectRequest, post } = await running({ idleTimeoutMs: 300 })
    const authorization = `authorization: Bearer ${testToken('alice')}`
    const events = connectRequest().ask('GET /spaces/test/events', [authorization])
    await events.until(/retry: /)
    const socket = connectRequest().upgrade()
    await socket.until(/system\.welcome/)
    for (const half of [post(100), post(100)]) await half.write('{').closed
    expect(closedOf([events, socket])).toEqual([])
  })
})

describe('a post', () => {
  test('costs its bytes before anything is made of it', async () => {
    const { url, said } = await running({ isMetered: true })
    const many = `[${'1,'.repeat(900_000)}1]`
    const send = () =>
      fetch(`${url}/spaces/test/envelopes`, { method: 'POST', headers: bearer('bob'), body: many })
    const first = await send()
    expect(await first.json()).toMatchObject({
      code: 'invalid_request',
      detail: fillIn(texts.longPost, { envelopes: 500 }),
    })
    const second = await send()
    expect(second.status).toBe(429)
    expect(await second.json()).toMatchObject({ code: 'rate_limited' })
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await said('alice', 100_000)).status).toBe(201)
    const history = await fetch(`${url}/spaces/test/envelopes?kind=system.decision`, {
      headers: bearer('bob'),
    })
    expect(await history.json()).toMatchObject({
      envelopes: [{ to: ['bob'], payload: { decision: 'limited', reasonCode: 'rate_limited', count: 1 } }],
    })
  })

  test('that could never be paid for is too large', async () => {
    const { post } = await running({ isMetered: true })
    const refused = post(defaultLimits.maxResultBytes + 1)
    expect(await refused.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 .*connection: close/s)
  })

  test('pays once', async () => {
    const { said } = await running({ isMetered: true })
    const statuses: number[] = []
    for (const bytes of range(1, 8).map(() => 240_000)) statuses.push((await said('alice', bytes)).status)
    expect(statuses).toEqual(range(1, 8).map(() => 201))
  })

  test('is refused where it nests on and on', async () => {
    const { url } = await running()
    const deep = `{"x":${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}}`
    const answer = await fetch(`${url}/spaces/test/envelopes`, {
      method: 'POST',
      headers: bearer('bob'),
      body: deep,
    })
    expect([answer.status, await answer.json()]).toEqual([413, expect.anything()])
  })
})
