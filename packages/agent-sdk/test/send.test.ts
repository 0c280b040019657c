import { createTestSpace } from '@meup/agent-sdk/testing'
import { PROTOCOL, ProtocolError } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, caughtUp, recordEnvelopes } from './support/record-envelopes.js'

const participants = { ana: ['*'], bot: ['chat'], cid: ['*'] }

const refusal = (sending: Promise<unknown>): Promise<ProtocolError> =>
  sending.then(
    () => expect.unreachable('it was accepted'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ProtocolError)
      return error as ProtocolError
    },
  )

describe('send', () => {
  test('resolves with the envelope as the space has it', async () => {
    await using space = await createTestSpace({ participants })
    const [ana, bot] = await Promise.all([space.join('ana'), space.join('bot')])
    const heard = recordEnvelopes(bot)
    const echo = await ana.send({ kind: 'test.thing', context: 'a/b', payload: { n: 1 } })
    expect(echo).toEqual({
      protocol: PROTOCOL,
      id: expect.stringMatching(/^[A-Za-z0-9_-]{21}$/),
      seq: expect.any(Number),
      ts: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
      from: 'ana',
      kind: 'test.thing',
      context: 'a/b',
      payload: { n: 1 },
    })
    expect(await heard.until(byId(echo.id))).toEqual(echo)
  })

  test('keeps the order of the calls, awaited or not', async () => {
    await using space = await createTestSpace({ participants })
    const ana = await space.join('ana')
    const echoes = await Promise.all(Array.from({ length: 200 }, (_, n) => ana.chat(`${n}`)))
    const first = echoes[0]?.seq ?? 0
    expect(echoes.map(({ seq }) => seq)).toEqual(echoes.map((_, n) => first + n))
  })

  test('the same again gives the original', async () => {
    await using space = await createTestSpace({ participants })
    const [ana, bot] = await Promise.all([space.join('ana'), space.join('bot')])
    const heard = recordEnvelopes(bot)
    const draft = { id: 'once', kind: 'chat', payload: { message: 'hello' } }
    const original = await ana.send(draft)
    expect(await ana.send(draft)).toEqual(original)
    await caughtUp(ana, heard)
    expect(heard.all.filter(byId('once'))).toEqual([original])
  })
})

describe('what is refused', () => {
  test('for want of a capability says what the sender holds', async () => {
    await using space = await createTestSpace({ participants })
    const [bot, ana] = await Promise.all([space.join('bot'), space.join('ana')])
    const heard = recordEnvelopes(ana)
    const error = await refusal(bot.send({ kind: 'test.thing' }))
    expect(error).toMatchObject({ name: 'ProtocolError', code: 'capability_violation', retryable: false })
    expect(error.details).toEqual({
      attemptedKind: 'test.thing',
      capabilities: ['chat'],
      missing: 'test.thing',
    })
    expect(error.message).toContain('bot')
    expect(error.hint).toContain('grant')
    await caughtUp(ana, heard)
    expect(heard.all.filter(({ from }) => from === 'bot')).toEqual([])
  })

  test('for a bad field says where it is', async () => {
    await using space = await createTestSpace({ participants })
    const ana = await space.join('ana')
    const chat = (fields: object) => ana.send({ kind: 'chat', payload: { message: 'x' }, ...fields })
    expect(await refusal(chat({ payload: { message: 1 } }))).toMatchObject({
      code: 'invalid_payload',
      details: { path: '/payload/message' },
    })
    expect(await refusal(chat({ to: ['bot', 'eve'] }))).toMatchObject({
      code: 'participant_not_found',
      details: { path: '/to/1' },
    })
    expect(await refusal(chat({ context: 'a b' }))).toMatchObject({ code: 'invalid_context' })
    expect(await refusal(chat({ rationale: 'why not' }))).toMatchObject({ details: { path: '/rationale' } })
    expect(await refusal(ana.send({ kind: 'system.space' }))).toMatchObject({ code: 'reserved_kind' })
    expect(await refusal(ana.send({ kind: 'chat.nonsense' }))).toMatchObject({ code: 'unknown_kind' })
  })

  test('for speed says when to try again, and other classes go on', async () => {
    const rates = { chat: { perSecond: 0.001, burst: 1 } }
    await using space = await createTestSpace({ participants, limits: { rates } })
    const ana = await space.join('ana')
    await ana.chat('one')
    const error = await refusal(ana.chat('two'))
    expect(error).toMatchObject({ code: 'rate_limited', retryable: true })
    expect(error.details).toMatchObject({ class: 'chat', retryAfterMs: expect.any(Number) })
    await ana.send({ kind: 'reasoning.start' })
  })

  test('for its size says the limit', async () => {
    await using space = await createTestSpace({ participants, limits: { maxEnvelopeBytes: 1000 } })
    const ana = await space.join('ana')
    const error = await refusal(ana.chat('x'.repeat(1000)))
    expect(error).toMatchObject({ code: 'payload_too_large', message: expect.stringContaining('1000') })
    expect(await refusal(ana.chat('€'.repeat(400)))).toMatchObject({ code: 'payload_too_large' })
    await ana.chat('short enough')
  })

  test('for what no reader would accept', async () => {
    await using space = await createTestSpace({ participants })
    const ana = await space.join('ana')
    const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 'deep')
    const bad = [{ deep }, JSON.parse('{"__proto__": 1}') as object]
    for (const payload of bad) {
      const error = await refusal(ana.send({ kind: 'test.thing', payload }))
      expect(error).toMatchObject({ code: 'invalid_json', retryable: false })
    }
    const circle: { round?: unknown } = {}
    circle.round = circle
    await expect(ana.send({ kind: 'test.thing', payload: circle })).rejects.toThrow(TypeError)
    await ana.subscribe({ from: ['ana'] })
  })

  test('leaves what was sent beside it alone', async () => {
    await using space = await createTestSpace({ participants })
    const ana = await space.join('ana')
    const sent = [ana.chat('a'), ana.chat('b', { to: ['eve'] }), ana.chat('c')]
    const results = await Promise.allSettled(sent)
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})

describe('chat', () => {
  test('goes to everyone, to some, as an answer, in a context, in a format', async () => {
    await using space = await createTestSpace({ participants })
    const [ana, bot, cid] = await Promise.all([space.join('ana'), space.join('bot'), space.join('cid')])
    const [toBot, toCid] = [recordEnvelopes(bot), recordEnvelopes(cid)]
    const open = await ana.chat('to all')
    const next = await ana.chat('to all again')
    expect(open).toMatchObject({ kind: 'chat', payload: { message: 'to all' } })
    expect(open).not.toHaveProperty('to')
    const secret = await ana.chat('to bot', { to: ['bot'], correlationId: open.id, format: 'markdown' })
    expect(secret).toMatchObject({ to: ['bot'], correlationId: open.id })
    expect(secret.payload).toEqual({ message: 'to bot', format: 'markdown' })
    const inside = await ana.chat('aside', { context: 'aside', correlationId: [open.id, next.id] })
    expect(inside).toMatchObject({ context: 'aside', correlationId: [open.id, next.id] })
    await Promise.all([caughtUp(ana, toBot), caughtUp(ana, toCid)])
    const ids = (all: readonly { kind: string; id: string }[]) =>
      all.filter(({ kind }) => kind === 'chat').map(({ id }) => id)
    expect(ids(toBot.all)).toEqual([open.id, next.id, secret.id, inside.id])
    expect(ids(toCid.all)).toEqual([open.id, next.id, inside.id])
  })
})

describe('half of a character', () => {
  test.each([
    ['\ud83d', '\ufffd'],
    ['a \ud83d b', 'a \ufffd b'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
    ['\ud83d\ud83d\ude00', '\ufffd😀'],
    ['\\\ud83d', '\\\ufffd'],
    ['\\ud83d', '\\ud83d'],
    ['\\\\ud83d"\\udc00', '\\\\ud83d"\\udc00'],
    ['😀', '😀'],
  ])('is sent as U+FFFD, as no reader takes it: %j', async (text, expected) => {
    await using space = await createTestSpace({ participants })
    const ana = await space.join('ana')
    const { payload } = await ana.send({ kind: 'test.thing', payload: { text, [text]: [text] } })
    expect(payload).toEqual({ text: expected, [expected]: [expected] })
  })
})
