import { FakeClock, testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { bearer } from './http-client.js'
import { type StartOptions, start } from './support.js'

const participants = { alice: ['*'], bob: ['chat'] }

/** A gateway with a stopped clock, and functions that create and exchange one-time codes. */
async function opened(options: Partial<StartOptions> = {}) {
  const clock = new FakeClock()
  const running = await start({ participants, clock, ...options })
  const ask = async (
    path: string,
    authorization?: string,
    headers: Record<string, string> = {},
    method = 'POST',
  ) => {
    const response = await fetch(running.url + path, {
      method,
      headers: { ...(authorization && { authorization }), ...headers },
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown>, response }
  }
  const make = async (participant = 'alice'): Promise<string> => {
    const { status, body } = await ask('/spaces/test/links', bearer(participant).authorization)
    expect([status, Object.keys(body)]).toEqual([201, ['code', 'expiresAt']])
    return String(body.code)
  }
  const exchange = (code: string) => ask('/links/exchange', `Bearer ${code}`)
  return { ...running, clock, ask, make, exchange }
}

describe('a one-time code', () => {
  test('is exchanged for the token that it was made with, once', async () => {
    const { make, exchange } = await opened()
    const code = await make('bob')
    expect(code).toMatch(/^[\w-]{43}$/)
    const { status, body, response } = await exchange(code)
    expect([status, body]).toEqual([200, { space: 'test', participant: 'bob', token: testToken('bob') }])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await exchange(code)).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })

  test('goes to one of those who come with it at the same time', async () => {
    const { make, exchange } = await opened()
    const code = await make()
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange(code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('is good for 60 seconds', async () => {
    const { make, exchange, clock } = await opened()
    const [early, late] = [await make(), await make()]
    clock.advance(59_999)
    expect((await exchange(early)).status).toBe(200)
    clock.advance(1)
    expect((await exchange(late)).status).toBe(401)
  })

  test('is worth no more than its token', async () => {
    const { make, exchange, connect } = await opened({
      participants: { ...participants, admin: ['space.kick'] },
    })
    const code = await make('bob')
    const admin = await connect('admin')
    await admin.send({ kind: 'space.kick', payload: { participantId: 'bob' } })
    expect(await exchange(code)).toMatchObject({ status: 403, body: { code: 'forbidden' } })
  })

  test('is none of many: of one participant the last eight count', async () => {
    const { make, exchange } = await opened()
    const other = await make('bob')
    const codes: string[] = []
    for (let count = 0; count < 9; count++) codes.push(await make())
    const statuses = []
    for (const code of [...codes, other]) statuses.push((await exchange(code)).status)
    expect(statuses).toEqual([401, ...Array(9).fill(200)])
  })

  test('costs what a visit costs', async () => {
    const rates = { alice: { control: { perSecond: 1, burst: 2 } } }
    const { ask, make } = await opened({ rates })
    await make()
    await make()
    const refused = await ask('/spaces/test/links', bearer('alice').authorization)
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
    expect(refused.response.headers.get('retry-after')).toBe('1')
  })

  test('is made for whoever has a token, and by pages that may', async () => {
    const { ask, make, url } = await opened({ guest: { capabilities: ['chat'] } })
    expect((await ask('/spaces/test/links')).status).toBe(401)
    expect((await ask('/spaces/test/links', 'Bearer wrong')).status).toBe(401)
    expect((await ask('/spaces/none/links', bearer('alice').authorization)).status).toBe(404)
    const origin = { origin: 'https://evil.example' }
    expect((await ask('/spaces/test/links', bearer('alice').authorization, origin)).status).toBe(403)
    const code = await make()
    expect((await ask('/links/exchange', `Bearer ${code}`, origin)).status).toBe(403)
    expect((await ask('/links/exchange', `Bearer ${code}`, { origin: url })).status).toBe(200)
    expect((await ask('/links/exchange', undefined, {})).status).toBe(401)
    expect((await ask('/links/exchange', undefined, {}, 'GET')).status).toBe(405)
  })

  test('cannot be guessed without end', async () => {
    const { make, exchange } = await opened()
    const code = await make()
    const wrong = Array.from({ length: 10 }, (_, index) => `${'x'.repeat(41)}${10 + index}`)
    for (const each of wrong) expect((await exchange(each)).status).toBe(401)
    expect((await exchange('again')).status).toBe(429)
    expect((await exchange(code)).status).toBe(200)
  })

  test('is in no log', async () => {
    const said: unknown[] = []
    const note = (...parts: unknown[]): void => void said.push(parts)
    const { make, exchange } = await opened({ logger: { info: note, warn: note, error: note } })
    const code = await make()
    for (let count = 0; count < 13; count++) await exchange(code)
    expect(said.length).toBeGreaterThan(0)
    expect(JSON.stringify(said)).not.toContain(code)
  })
})

describe('GET spaces', () => {
  const others = [{ name: 'lounge', participants: {}, guest: { capabilities: ['chat' as const] } }]

  test('names what a token opens, and without one what lets guests in', async () => {
    const { ask } = await opened({ others: [{ name: 'second', participants: { alice: [] } }, ...others] })
    const spaces = (authorization?: string) => ask('/spaces', authorization, {}, 'GET')
    expect(await spaces(bearer('bob').authorization)).toMatchObject({ body: { spaces: ['test'] } })
    expect(await spaces(bearer('alice').authorization)).toMatchObject({
      body: { spaces: ['test', 'second'] },
    })
    expect(await spaces()).toMatchObject({ status: 200, body: { spaces: ['lounge'] } })
    expect(await spaces('Bearer wrong')).toMatchObject({ status: 401, body: { code: 'unauthorized' } })
  })

  test('is for pages that may ask, and counts who fails', async () => {
    const { ask } = await opened()
    const evil = { origin: 'https://evil.example' }
    expect((await ask('/spaces', bearer('alice').authorization, evil, 'GET')).status).toBe(403)
    expect((await ask('/spaces', undefined, {}, 'GET')).status).toBe(401)
    for (let count = 0; count < 10; count++) await ask('/spaces', 'Bearer wrong', {}, 'GET')
    expect((await ask('/spaces', 'Bearer wrong', {}, 'GET')).status).toBe(429)
    expect((await ask('/spaces', bearer('alice').authorization, {}, 'GET')).status).toBe(200)
  })
})
