import { createTestGateway, testToken } from '@meup/gateway/testing'
import { errors } from '@meup/protocol'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { range } from './client.js'
import { bearer } from './http-client.js'
import { type StartOptions, start } from './support.js'

const participants = { alice: ['*'] }
const wrong = { authorization: 'Bearer a-token-of-nobody' }

async function open(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const get = (headers: Record<string, string>, path = '/spaces/test/participants') =>
    fetch(running.url + path, { headers })
  const statusOf = async (headers: Record<string, string>): Promise<number> => (await get(headers)).status
  const exhaust = async (headers: Record<string, string> = {}): Promise<void> => {
    for (const _ of range(1, 10)) expect(await statusOf({ ...wrong, ...headers })).toBe(401)
  }
  return { ...running, get, statusOf, exhaust }
}

describe('an address that has failed ten times', () => {
  test('is told to wait, over HTTP, events and sockets alike, whatever it tries', async () => {
    const { exhaust, get, connectRequest } = await open()
    await exhaust()
    for (const path of ['envelopes', 'events', 'participants', 'contexts', 'contexts/run']) {
      const response = await get(wrong, `/spaces/test/${path}`)
      expect([response.status, response.headers.get('content-type')]).toEqual([
        429,
        'application/problem+json',
      ])
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(50)
      expect(await response.json()).toMatchObject({
        code: 'rate_limited',
      })
    }
    for (const tried of [{ token: 'another' }, {}, { protocols: ['meup.v0.3', 'bearer.another'] }]) {
      const refused = await connectRequest(tried)
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50)
    }
  })

  test('counts what fails on sockets, too', async () => {
    const { connectRequest, statusOf } = await open()
    for (const _ of range(1, 10)) expect(await connectRequest({ token: 'no' })).toMatchObject({ status: 401 })
    expect(await statusOf(wrong)).toBe(429)
  })

  test('is let in with a valid token all the same', async () => {
    const { connect, exhaust, post, statusOf } = await open()
    await exhaust()
    expect(await statusOf(wrong)).toBe(429)
    const alice = await connect('alice')
    await alice.accepted({ kind: 'chat', payload: { message: 'in spite of all' } })
    expect(await statusOf(bearer('alice'))).toBe(200)
    expect(await post('alice', { kind: 'chat', payload: { message: 'and so' } })).toMatchObject({
      status: 201,
    })
    expect(await statusOf(wrong)).toBe(429)
  })

  test('is told nothing else of spaces that are not there, and of what anybody may see', async () => {
    const { exhaust, get } = await open()
    await exhaust()
    await get(wrong)
    expect((await get(wrong, '/spaces/nowhere/participants')).status).toBe(404)
    expect((await get({}, '/healthz')).status).toBe(200)
  })

  test('may try again a minute later', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    const { exhaust, statusOf } = await open()
    await exhaust()
    vi.setSystemTime(Date.now() + 59_000)
    expect(await statusOf(wrong)).toBe(429)
    vi.setSystemTime(Date.now() + 1000)
    await exhaust()
    expect(await statusOf(wrong)).toBe(429)
  })

  test('is told of in the operator’s log, once, and without any token', async () => {
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
    const { exhaust, connectRequest, statusOf } = await open({ logger })
    await exhaust()
    expect(logger.warn).not.toHaveBeenCalled()
    for (const _ of range(1, 5)) expect(await statusOf(wrong)).toBe(429)
    expect(await connectRequest({ token: 'a-token-of-nobody' })).toMatchObject({ status: 429 })
    expect(logger.warn.mock.calls).toEqual([
      [{ remote: '127.0.0.1', retryAfterMs: expect.any(Number) }, expect.stringMatching(/authenticate/)],
    ])
  })

  test('has all of its failures counted', async () => {
    const { exhaust, get, gateway, statusOf } = await open()
    await exhaust()
    expect(await statusOf(wrong)).toBe(429)
    expect(await statusOf(bearer('alice'))).toBe(200)
    expect(gateway.failedLogins).toBe(11)
    expect(await (await get({}, '/metrics')).text()).toMatch(/^meup_auth_failures_total 11$/m)
  })
})

test('no token at all is a failure where one is needed; a token in the URL is none', async () => {
  const { get, statusOf } = await open()
  for (const _ of range(1, 20)) {
    expect((await get({}, `/spaces/test/participants?token=${testToken('alice')}`)).status).toBe(400)
  }
  for (const _ of range(1, 10)) expect(await statusOf({})).toBe(401)
  expect(await statusOf({})).toBe(429)
})

test('guests, who need none, never fail', async () => {
  const { statusOf } = await open({ guest: { capabilities: [] } })
  for (const _ of range(1, 12)) expect(await statusOf({})).toBe(200)
})

describe('one address behind a proxy', () => {
  const from = (address: string) => ({ ...wrong, 'x-forwarded-for': address })
  const behindProxy = () => open({ trustProxy: true })

  test.for([
    ['203.0.113.1', ['203.0.113.1', '::ffff:203.0.113.1', '::FFFF:cb00:7101', '203.0.113.1:50123']],
    ['203.0.113.1', ['198.51.100.7, 203.0.113.1', 'made up,203.0.113.1', '::ffff:203.0.113.1%eth0']],
    ['2001:db8::1', ['2001:DB8:0:0:0:0:0:1', '2001:db8::ffff:1:2:3', '[2001:db8::1]:443', '[2001:db8::2]']],
    ['::1', ['::1', '0:0:0:0:0:0:0:1', '[::1]:8080', '::1%lo']],
    ['not an address', ['neither is this', '', '203.0.113.1, ', '1.2.3.4.5', '2001:db8:::1']],
  ] as const)('%s is also %j', async ([first, others]) => {
    const { exhaust, statusOf } = await behindProxy()
    await exhaust(from(first))
    for (const other of others) expect([other, await statusOf(from(other))]).toEqual([other, 429])
  })

  test('is not any other', async () => {
    const { exhaust, statusOf } = await behindProxy()
    await exhaust(from('203.0.113.1'))
    await exhaust(from('2001:db8::1'))
    await exhaust(from('::1'))
    expect(await statusOf(from('203.0.113.1'))).toBe(429)
    const others = [
      '203.0.113.2',
      '2001:db8:0:1::1',
      '::ffff:203.0.113.3',
      '203.0.113.1, 203.0.113.4',
      '::2',
      'x',
    ]
    for (const other of others) expect([other, await statusOf(from(other))]).toEqual([other, 401])
  })

  test('is the client’s own word where no proxy is trusted', async () => {
    const { exhaust, statusOf } = await open()
    await exhaust(from('203.0.113.1'))
    expect(await statusOf(from('203.0.113.2'))).toBe(429)
  })
})

test('of a spray of addresses only so many are remembered; the rest fail together, and valid tokens get in', async () => {
  const gateway = await createTestGateway({ participants })
  const tryFrom = async (remote: string, token = 'no'): Promise<unknown> => {
    const answer = await gateway.identify({ space: 'test', token, remote })
    return 'message' in answer ? errors[answer.code].status : answer.participant
  }
  for (const n of range(1, 10_010)) expect(await tryFrom(`spray ${n}`)).toBe(401)
  expect(await tryFrom('spray 10011')).toBe(429)
  expect(await tryFrom('one more')).toBe(429)
  expect(await tryFrom('one more', testToken('alice'))).toBe('alice')
  expect(await tryFrom('spray 1')).toBe(401)
})
