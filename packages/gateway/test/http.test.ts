import { maxPost } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { byId, ofKind, range, type Sent, said, seqs } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['chat'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })
const problem = 'application/problem+json'

describe('POST envelopes', () => {
  test('takes one, answers with its id and seq, and everybody gets it', async () => {
    const { connect, post } = await start({ participants })
    const bob = await connect('bob')
    const { status, body } = await post('alice', { id: 'one', ...chat() })
    expect(status).toBe(201)
    expect(body).toEqual([{ id: 'one', seq: 4 }])
    expect(await bob.next(byId('one'))).toMatchObject({ seq: 4, from: 'alice' })
  })

  test('takes many, in their order', async () => {
    const { connect, post } = await start({ participants })
    const bob = await connect('bob')
    const sent = range(1, maxPost).map((count) => ({ id: `m${count}`, ...chat() }))
    const { status, body } = await post('alice', sent)
    expect(status).toBe(201)
    expect(body).toEqual(sent.map(({ id }, at) => ({ id, seq: 4 + at })))
    const heard = (await bob.until(byId(`m${maxPost}`))).filter(ofKind('chat'))
    expect(said(heard)).toEqual(sent.map(({ id }) => id))
    expect(seqs(heard)).toEqual(range(4, 3 + maxPost))
  })

  test('makes up ids, passes payloads on byte for byte, and resolves aliases', async () => {
    const { connect, post } = await start({ participants })
    const bob = await connect('bob')
    const { body } = await post('alice', '[ {"kind":"chat","payload": {"n":1.50, "text":"\\u0068i"} } ]')
    expect(body).toEqual([{ id: expect.stringMatching(/^[\w-]+$/), seq: 4 }])
    const frame = await bob.next(ofKind('chat'))
    expect(bob.texts.get(frame)).toContain('"payload":{"n":1.50,"message":"\\u0068i"}}')
  })

  test('takes none', async () => {
    const { post } = await start({ participants })
    expect(await post('alice', [])).toMatchObject({ status: 201, body: [] })
  })

  test('is a retry where the id is known', async () => {
    const { connect, post } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const { seq } = await alice.accepted({ id: 'once', ...chat() })
    const twice = [
      { id: 'once', ...chat() },
      { id: 'new', ...chat() },
      { id: 'new', ...chat() },
    ]
    const { body } = await post('alice', twice)
    expect(body).toEqual([
      { id: 'once', seq },
      { id: 'new', seq: seq + 1 },
      { id: 'new', seq: seq + 1 },
    ])
    const { id } = await alice.accepted(chat('mark'))
    expect(said(await bob.until(byId(id)))).toEqual(['once', 'new', id])
    expect(said(alice.frames)).toEqual(['once', 'new', id])
  })

  test('ends at the first refusal, and says what was accepted before it', async () => {
    const { connect, post } = await start({ participants })
    const bob = await connect('bob')
    const sent = [{ id: 'a', ...chat() }, { id: 'b', ...chat() }, { kind: 'chat' }, { id: 'c', ...chat() }]
    const { status, type, body } = await post('alice', sent)
    expect([status, type]).toEqual([400, problem])
    expect(body).toMatchObject({
      status: 400,
      code: 'invalid_payload',
      path: '/payload/message',
      failedIndex: 2,
      accepted: [
        { id: 'a', seq: 4 },
        { id: 'b', seq: 5 },
      ],
    })
    const { id, seq } = await bob.accepted(chat('mark'))
    expect(seq).toBe(6)
    expect(said(bob.frames)).toEqual(['a', 'b', id])
  })

  test.for<[status: number, code: string, body: unknown]>([
    [400, 'invalid_json', '{"kind":'],
    [400, 'invalid_json', ''],
    [400, 'invalid_json', '[{"kind":"chat"},'],
    [400, 'invalid_json', '"chat"'],
    [400, 'invalid_json', [[chat()]]],
    [400, 'invalid_envelope', { ...chat(), seq: 1 }],
    [400, 'invalid_context', { kind: 'reasoning.thought' }],
    [400, 'unsupported_protocol', { ...chat(), protocol: 'meup/v9' }],
    [400, 'unknown_kind', { kind: 'chat.x' }],
    [400, 'invalid_request', { kind: 'observe.subscribe', payload: { reasoning: 'none' } }],
    [400, 'invalid_request', Array.from({ length: maxPost + 1 }, () => chat())],
    [403, 'reserved_kind', { kind: 'system.space' }],
    [403, 'sender_mismatch', { ...chat(), from: 'bob' }],
    [404, 'participant_not_found', { ...chat(), to: ['nobody'] }],
    [404, 'not_found', { kind: 'mcp.response', correlationId: 'x', payload: { result: {} } }],
    [413, 'payload_too_large', chat('x'.repeat(300_000))],
    [
      409,
      'run_not_active',
      { kind: 'observe.visibility', payload: { context: 'c', reasoningVisible: true } },
    ],
  ])('refuses with %i %s', async ([status, code, sent]) => {
    const { connect, post } = await start({ participants })
    const bob = await connect('bob')
    const answer = await post('alice', sent)
    expect([answer.status, answer.type]).toEqual([status, problem])
    expect(answer.body).toMatchObject({
      status,
      code,
      detail: expect.stringMatching(/\w/),
      title: expect.any(String),
    })
    // Only refusals with 403 are recorded in the log, so that the chat after them has seq 5 instead of 4.
    expect((await bob.accepted(chat('mark'))).seq).toBe(status === 403 ? 5 : 4)
  })

  test('refuses what a participant may not do: 403', async () => {
    const { post } = await start({ participants })
    const { status, body } = await post('bob', { kind: 'x.y' })
    expect([status, body]).toMatchObject([
      403,
      { code: 'capability_violation', failedIndex: 0, accepted: [] },
    ])
  })

  test('refuses another’s id: 409', async () => {
    const { post } = await start({ participants })
    await post('alice', { id: 'mine', ...chat() })
    expect(await post('bob', { id: 'mine', ...chat() })).toMatchObject({
      status: 409,
      body: { code: 'duplicate_id' },
    })
  })

  test('over the rate says when to come again: 429', async () => {
    const rates = { alice: { chat: { perSecond: 0.5, burst: 2 } } }
    const { url, post } = await start({ participants, rates })
    const body = JSON.stringify([chat(), chat(), chat()])
    const headers = { authorization: 'Bearer token-of-alice' }
    const response = await fetch(`${url}/spaces/test/envelopes`, { method: 'POST', headers, body })
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.json()).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: expect.any(Number),
      failedIndex: 2,
      accepted: [{ seq: 3 }, { seq: 4 }],
    })
    expect(await post('alice', chat())).toMatchObject({ status: 429 })
    expect(await post('alice', { kind: 'x.y' })).toMatchObject({ status: 201 })
  })

  test.for<[status: number, code: string, space: string, authorization: string | undefined]>([
    [401, 'unauthorized', 'test', undefined],
    [401, 'unauthorized', 'test', 'Bearer wrong'],
    [401, 'unauthorized', 'test', 'Basic token-of-alice'],
    [404, 'not_found', 'nowhere', 'Bearer token-of-alice'],
    [404, 'not_found', 'nowhere', undefined],
  ])('refuses strangers with %i %s', async ([status, code, space, authorization]) => {
    const { url } = await start({ participants })
    const response = await fetch(`${url}/spaces/${space}/envelopes`, {
      method: 'POST',
      headers: { ...(authorization && { authorization }) },
      body: JSON.stringify(chat()),
    })
    expect([response.status, response.headers.get('content-type')]).toEqual([status, problem])
    expect(await response.json()).toMatchObject({ status, code })
  })

  test('needs no connection, and makes nobody present', async () => {
    const { connect, post } = await start({ participants })
    await post('alice', { id: 'run', kind: 'reasoning.start' })
    const { welcome } = await connect('bob', { query: 'after=0' })
    expect(welcome.participants).toMatchObject([{ id: 'alice', status: 'away' }, { id: 'bob' }])
    expect(welcome.contexts).toMatchObject([{ context: 'run', owner: 'alice' }])
  })
})

describe('other routes', () => {
  test('is not for guests, who are known by their connection: 401', async () => {
    const { url } = await start({ participants, guest: { capabilities: ['chat'] } })
    const body = JSON.stringify(chat())
    const response = await fetch(`${url}/spaces/test/envelopes`, { method: 'POST', body })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      code: 'unauthorized',
      detail: texts.guestPost,
    })
  })

  test('healthz needs no token', async () => {
    const { url } = await start({ participants })
    const response = await fetch(`${url}/healthz`)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }])
  })

  test('what is not there is a problem, too', async () => {
    const { url } = await start({ participants })
    for (const path of ['/', '/things', '/spaces/test/nothing', '/healthz/x']) {
      const response = await fetch(url + path)
      expect([response.status, response.headers.get('content-type')]).toEqual([404, problem])
      expect(await response.json()).toMatchObject({ code: 'not_found' })
    }
  })
})
