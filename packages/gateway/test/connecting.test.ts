import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type EnvelopeLog, type LogStore, memoryStore } from '@meup/gateway'
import { FakeClock, testToken } from '@meup/gateway/testing'
import { checkEnvelope, checkPayload, closeCodes, defaultLimits, GATEWAY, SUBPROTOCOL } from '@meup/protocol'
import { describe, expect, test, vi } from 'vitest'
import { byId, ofKind, range } from './client.js'
import { start } from './support.js'

const participants = { alice: ['chat'], bob: ['chat', 'mcp.*'] }

describe('the welcome', () => {
  test('is the first frame and says all there is to know', async () => {
    const { connect } = await start({ participants })
    const bob = await connect('bob')
    await bob.next(ofKind('system.presence'))
    const alice = await connect('alice')
    const [frame] = alice.frames
    expect(frame).toEqual({
      protocol: 'meup/v0.3',
      id: expect.stringMatching(/^[\w-]+$/),
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      from: GATEWAY,
      to: ['alice'],
      kind: 'system.welcome',
      payload: {
        you: { id: 'alice', capabilities: ['chat'] },
        participants: [
          { id: 'alice', kind: 'agent', capabilities: ['chat'], status: 'present' },
          { id: 'bob', kind: 'agent', capabilities: ['chat', 'mcp.*'], status: 'present' },
        ],
        space: { id: 'test', epoch: expect.stringMatching(/./), head: 3 },
        resume: { status: 'live', from: 4, to: 3 },
        contexts: [],
        subscription: { suppressed: { envelopes: 0, bytes: 0 } },
        limits: { ...defaultLimits, rates: expect.anything() },
        mcp: { visibility: 'everyone' },
        proposals: [],
      },
    })
    expect(checkEnvelope(frame)).toBeUndefined()
    expect(checkPayload('system.welcome', frame?.payload)).toBeUndefined()
    expect(bob.welcome.space.epoch).toBe(alice.welcome.space.epoch)
  })

  test('comes before the first live envelope, however busy the space is', async () => {
    const { connect } = await start({ participants })
    const bob = await connect('bob')
    for (let count = 0; count < 500; count++) bob.send({ kind: 'chat', payload: { message: `${count}` } })
    const entered = await Promise.all(['alice', 'alice', 'alice'].map((id) => connect(id)))
    for (const { frames } of entered) expect(frames[0]?.kind).toBe('system.welcome')
  })
})

describe('a token', () => {
  test('may come in the header', async () => {
    const { connect } = await start({ participants })
    const { welcome, ws } = await connect('alice')
    expect(welcome.you.id).toBe('alice')
    expect(ws.protocol).toBe(SUBPROTOCOL)
  })

  test('may come as a subprotocol, which is not given back', async () => {
    const { dial } = await start({ participants })
    for (const protocols of [
      [SUBPROTOCOL, `bearer.${testToken('bob')}`],
      [`bearer.${testToken('bob')}`, SUBPROTOCOL],
    ]) {
      const { welcome, ws } = await dial({ protocols })
      expect(welcome.you.id).toBe('bob')
      expect(ws.protocol).toBe(SUBPROTOCOL)
    }
  })

  test('opens its own space alone', async () => {
    const others = [{ name: 'other', participants: { carol: ['*'] } }]
    const { connect, connectRequest } = await start({ participants, others })
    const carol = await connect('carol', { space: 'other' })
    expect(carol.welcome.space.id).toBe('other')
    const refused = await connectRequest({ space: 'other', token: testToken('alice') })
    expect(refused).toMatchObject({ status: 401, body: { code: 'unauthorized' } })

    const alice = await connect('alice')
    await alice.accepted({ kind: 'chat', payload: { message: 'for this space' } })
    await carol.accepted({ id: 'mine', kind: 'chat', payload: { message: 'for that one' } })
    expect(carol.frames.map(({ kind }) => kind)).toEqual(['system.welcome', 'system.presence', 'chat'])
  })
})

const alice = testToken('alice')
const refusals = [
  { when: 'no token', status: 401, code: 'unauthorized' },
  { when: 'a wrong token', token: 'token-of-nobody', status: 401, code: 'unauthorized' },
  { when: 'an empty token', headers: { authorization: 'Bearer ' }, status: 401, code: 'unauthorized' },
  { when: 'another scheme', headers: { authorization: `Basic ${alice}` }, status: 401, code: 'unauthorized' },
  {
    when: 'a wrong subprotocol token',
    protocols: [SUBPROTOCOL, 'bearer.no'],
    status: 401,
    code: 'unauthorized',
  },
  { when: 'a token in the URL', query: `token=${alice}`, status: 400, code: 'invalid_request' },
  {
    when: 'a token in the URL beside a good one',
    token: alice,
    query: 'access_token=x',
    status: 400,
    code: 'invalid_request',
  },
  { when: 'an unknown space', space: 'nowhere', token: alice, status: 404, code: 'not_found' },
  { when: 'an unknown space without a token', space: 'nowhere', status: 404, code: 'not_found' },
  {
    when: 'an unknown space and a wrong token',
    space: 'nowhere',
    token: 'x',
    status: 404,
    code: 'not_found',
  },
  { when: 'another path', path: '/spaces/test', token: alice, status: 404, code: 'not_found' },
  {
    when: 'a foreign origin',
    token: alice,
    headers: { origin: 'https://evil.example' },
    status: 403,
    code: 'forbidden',
  },
  {
    when: 'another port of this host',
    token: alice,
    headers: { origin: 'http://127.0.0.1:1' },
    status: 403,
    code: 'forbidden',
  },
  {
    when: 'a page on localhost',
    token: alice,
    headers: { origin: 'http://localhost' },
    status: 403,
    code: 'forbidden',
  },
  {
    when: 'a page without an origin',
    token: alice,
    headers: { origin: 'null' },
    status: 403,
    code: 'forbidden',
  },
  ...[[], ['meup.v0.2']].map((protocols) => ({
    when: `no subprotocol of ours among ${protocols.length}`,
    token: alice,
    protocols,
    status: 400,
    code: 'unsupported_protocol',
  })),
  ...['after=-1', 'after=x', 'after=1.5', 'after=', 'after=1e3', 'after=9999999999999999'].map((query) => ({
    when: query,
    token: alice,
    query,
    status: 400,
    code: 'invalid_request',
  })),
  ...['tail=-1', 'tail=all', 'tail='].map((query) => ({
    when: query,
    token: alice,
    query,
    status: 400,
    code: 'invalid_request',
  })),
]

describe('before the 101', () => {
  test.for(refusals)('$when is refused: $status $code', async ({ when: _, status, code, ...options }) => {
    const { connectRequest } = await start({ participants })
    const answer = await connectRequest(options)
    expect(answer.headers['content-type']).toBe('application/problem+json')
    expect(answer).toMatchObject({ status, body: { status, code, type: 'about:blank' } })
    expect(answer.body.detail).toMatch(/\w/)
    expect(answer.body.title).toMatch(/\w/)
  })

  test('a URL that is none is refused', async () => {
    const { url } = await start({ participants })
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const asked = request(url, { path: '//[', headers }).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(400)
    expect(JSON.parse((await response.toArray()).join(''))).toMatchObject({ code: 'invalid_request' })
  })

  test('a page of the same host may enter, and one that is configured', async () => {
    const { connect, url } = await start({ participants, origins: ['https://app.example'] })
    for (const origin of [url, 'https://app.example']) {
      const { welcome } = await connect('alice', { headers: { origin } })
      expect(welcome.you.id).toBe('alice')
    }
  })
})

describe('guests', () => {
  test('enter without a token, each under a name of its own', async () => {
    const { connect, dial, connectRequest } = await start({ participants, guest: { capabilities: ['chat'] } })
    const bob = await connect('bob')
    const [first, second] = [await dial({}), await dial({})]
    expect(first.welcome.you).toEqual({ id: expect.stringMatching(/^guest-/), capabilities: ['chat'] })
    expect(second.welcome.you.id).not.toBe(first.welcome.you.id)

    const { id } = await first.accepted({ kind: 'chat', payload: { message: 'hello' } })
    expect(await bob.next(byId(id))).toMatchObject({ from: first.welcome.you.id })
    expect(await first.refused({ kind: 'mcp.request', payload: { method: 'tools/list' } })).toMatchObject({
      code: 'capability_violation',
    })
    expect(await connectRequest({ token: 'wrong' })).toMatchObject({ status: 401 })
  })
})

/** A store whose logs answer no read before this number of reads is pending. */
function readTogether(many: number): LogStore {
  const inner = memoryStore()
  let [asked, answer] = [0, () => {}]
  const together = new Promise<void>((resolve) => {
    answer = resolve
  })
  return {
    async open(space) {
      const log = await inner.open(space)
      const read: EnvelopeLog['read'] = async (query) => {
        if (++asked === many) answer()
        await together
        return log.read(query)
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { read })
    },
    close: () => inner.close(),
  }
}

describe('too much', () => {
  test('one participant holds no more of them when many come at once, and only those read the log', async () => {
    const { dial, gateway } = await start({
      ...{ participants, limits: { connectionsPerParticipant: 2 } },
      store: readTogether(2),
    })
    const token = testToken('bob')
    const opened = await Promise.allSettled(range(1, 10).map(() => dial({ token, query: 'tail=5' })))
    expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
    await expect.poll(() => gateway.report()[0]?.connections).toBe(2)
  })

  test('one participant holds so many connections and no more', async () => {
    const { connect, connectRequest } = await start({
      participants,
      limits: { connectionsPerParticipant: 2 },
    })
    const [, second] = [await connect('alice'), await connect('alice')]
    const refused = await connectRequest({ token: alice })
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', retryAfterMs: 1000 } })
    expect(refused.headers['retry-after']).toBe('1')
    await connect('bob')
    await second.close()
    await vi.waitFor(() => connect('alice'), { timeout: 10_000 })
  })

  test('the guests of one address hold so many together; participants are no guests', async () => {
    const { connect, dial, connectRequest } = await start({ participants, guest: { capabilities: [] } })
    const [first] = await Promise.all(Array.from({ length: 32 }, () => dial({})))
    const refused = await connectRequest({})
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', retryAfterMs: 1000 } })
    expect(refused.headers['retry-after']).toBe('1')
    await connect('alice')
    await first?.close()
    await vi.waitFor(() => dial({}), { timeout: 10_000 })
  })

  test('joins cost the control class, and each participant has its own', async () => {
    const clock = new FakeClock()
    const rates = { control: { perSecond: 0.5, burst: 2 } }
    const { connect, connectRequest } = await start({
      participants,
      clock,
      rates: { alice: rates, bob: rates },
    })
    await connect('alice')
    await connect('alice')
    const refused = await connectRequest({ token: alice })
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', retryAfterMs: 2000 } })
    expect(refused.headers['retry-after']).toBe('2')
    await connect('bob')
    clock.advance(2000)
    await connect('alice')
    expect(await connectRequest({ token: alice })).toMatchObject({ status: 429 })
  })
})

test('who answers no pings is closed, who answers them stays', async () => {
  const { connect } = await start({ participants, heartbeatMs: 40 })
  const bob = await connect('bob')
  const silent = await connect('alice', { autoPong: false })
  const { code } = await silent.closed
  expect(code).toBe(closeCodes.heartbeatLost)
  await bob.accepted({ kind: 'chat', payload: { message: 'still here' } })
})
