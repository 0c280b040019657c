import { ConnectionError } from '@meup/agent-sdk'
import { SpaceClient } from '@meup/agent-sdk/internal'
import { createTestSpace } from '@meup/agent-sdk/testing'
import { closeCodes, type WelcomePayload } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { eventually } from './support/eventually.js'
import { byId, caughtUp, recordEnvelopes } from './support/record-envelopes.js'
import { fromGateway, makeWelcome, scriptedDial } from './support/scripted-line.js'

const participants = { ana: ['*'], bob: ['*'], cid: ['*'] }

async function couple() {
  const space = await createTestSpace({ participants })
  const [ana, bob] = await Promise.all([space.join('ana'), space.join('bob')])
  return { space, ana, bob, [Symbol.asyncDispose]: () => space.close() }
}

async function scripted() {
  const line = scriptedDial()
  const opening = SpaceClient.open(line.dial, { url: 'memory:', space: 'test' })
  const first = await line.next()
  first.welcome()
  const seat = await opening
  await new Promise((resolve) => setTimeout(resolve)) // Lets the client start to receive new envelopes.
  return { ...line, first, seat }
}

describe('envelopes', () => {
  test('are iterated from the call on, in order, none lost while the loop is busy', async () => {
    await using here = await couple()
    const [first, last] = [await here.ana.chat('before'), 'after']
    await caughtUp(here.ana, recordEnvelopes(here.bob))
    const envelopes = here.bob.envelopes()
    const sent = await Promise.all(['a', 'b', 'c', last].map((text) => here.ana.chat(text)))
    const seen = []
    for await (const envelope of envelopes) {
      await here.bob.send({ kind: 'test.busy' })
      if (envelope.kind === 'chat') seen.push(envelope)
      if (envelope.id === sent.at(-1)?.id) break
    }
    expect(seen).toEqual(sent)
    expect(seen).not.toContainEqual(first)
  })

  test('two loops see the same', async () => {
    await using here = await couple()
    const loops = [here.bob.envelopes(), here.bob.envelopes()]
    const { id } = await here.ana.chat('hello')
    const find = async (envelopes: (typeof loops)[number] | undefined) => {
      for await (const envelope of envelopes ?? []) if (envelope.id === id) return envelope
      return undefined
    }
    expect(await find(loops[0])).toEqual(await find(loops[1]))
  })

  test('leaving the loop stops listening', async () => {
    await using here = await couple()
    const before = ['envelope', 'closed'].map((name) => here.bob.listenerCount(name as 'envelope'))
    const envelopes = here.bob.envelopes()
    await here.ana.chat('hello')
    for await (const _ of envelopes) break
    expect(['envelope', 'closed'].map((name) => here.bob.listenerCount(name as 'envelope'))).toEqual(before)
  })

  test('end when the space is closed, after what had come', async () => {
    await using here = await couple()
    const envelopes = here.bob.envelopes()
    const { id } = await here.ana.chat('last words')
    await caughtUp(here.ana, recordEnvelopes(here.bob))
    here.bob.close()
    const ids = []
    for await (const envelope of envelopes) ids.push(envelope.id)
    expect(ids).toContain(id)
    expect(await here.bob.envelopes().next()).toEqual({ value: undefined, done: true })
    for await (const _ of here.bob.turns()) expect.unreachable('a turn after the end')
    await here.bob.answer(async () => expect.unreachable('a turn after the end'))
  })

  test('throw what ended the space', async () => {
    const { seat, first } = await scripted()
    const [envelopes, turns] = [seat.envelopes().next(), seat.turns().next()]
    const ended = expect(envelopes).rejects.toMatchObject({ name: 'ProtocolError', code: 'forbidden' })
    const noTurns = expect(turns).rejects.toMatchObject({ message: 'kicked (4403)' })
    first.close(closeCodes.forbidden, 'kicked')
    await Promise.all([ended, noTurns])
    await expect(seat.envelopes().next()).rejects.toMatchObject({ message: 'kicked (4403)' })
    await expect(seat.answer(async () => {})).rejects.toMatchObject({ message: 'kicked (4403)' })
    expect(seat.ended?.error).toMatchObject({ message: 'kicked (4403)' })
  })
})

describe('status and closed', () => {
  test('tell how the connection stands, and how it ended', async () => {
    const { seat, first } = await scripted()
    const status = seat.status()
    expect((await status.next()).value).toEqual({ state: 'connected' })
    first.close(1006, 'gone')
    expect((await status.next()).value).toMatchObject({ state: 'reconnecting', reason: 'gone (1006)' })
    const closed = seat.closed()
    seat.close()
    expect(await closed).toBeUndefined()
    expect((await status.next()).done).toBe(true)
    expect(await seat.closed()).toBeUndefined()
  })

  test('a local error says whether to try again, and what to do', () => {
    const errors = (['unreachable', 'closed', 'not_configured'] as const).map(
      (code) => new ConnectionError(code, ''),
    )
    expect(errors.map(({ retryable }) => retryable)).toEqual([true, false, false])
    expect(errors.map(({ hint }) => hint)).not.toContain('')
  })
})

describe('subscribe', () => {
  test('takes effect at once, and resolves with the welcome that says so', async () => {
    await using here = await couple()
    const heard = recordEnvelopes(here.bob)
    await here.ana.send({ id: 'run', kind: 'reasoning.start' })
    const thought = (id: string) =>
      here.ana.send({ id, kind: 'reasoning.thought', context: 'run', payload: { message: id } })
    await thought('seen')
    const welcome = await here.bob.subscribe({ reasoning: 'boundaries', kinds: ['reasoning.*'] })
    expect(welcome.subscription).toEqual({
      reasoning: 'boundaries',
      kinds: ['reasoning.*'],
      suppressed: { envelopes: 0, bytes: 0 },
    })
    expect(here.bob.welcome).toEqual(welcome)
    await thought('unseen')
    await here.ana.send({ id: 'end', kind: 'reasoning.conclusion', context: 'run' })
    await heard.until(byId('end'))
    await here.bob.subscribe({})
    await thought('late')
    await heard.until(byId('late'))
    const ids = heard.all.filter(({ context }) => context === 'run').map(({ id }) => id)
    expect(ids).toEqual(['seen', 'end', 'late'])
  })

  test('rejects a bad pattern, says where, and leaves things as they were', async () => {
    await using here = await couple()
    await here.bob.subscribe({ reasoning: 'none' })
    await expect(here.bob.subscribe({ from: ['ana', 're:('] })).rejects.toMatchObject({
      name: 'ProtocolError',
      code: 'invalid_payload',
      details: { path: expect.stringContaining('/payload') },
    })
    await expect(here.bob.subscribe({ reasoning: 'some' as 'none' })).rejects.toMatchObject({
      code: 'invalid_payload',
      details: { path: '/payload/reasoning' },
    })
    expect(here.bob.welcome.subscription.reasoning).toBe('none')
  })

  test('several at once are each answered', async () => {
    await using here = await couple()
    const asked = [{ reasoning: 'none' as const }, { from: ['re:('] }, { from: ['ana'] }].map((change) =>
      here.bob.subscribe(change).then(
        ({ subscription }) => subscription,
        ({ code }: { code: string }) => code,
      ),
    )
    expect(await Promise.all(asked)).toMatchObject([
      { reasoning: 'none' },
      'invalid_payload',
      { from: ['ana'] },
    ])
  })

  test('is kept over a reconnect; what was refused is not', async () => {
    const { seat, first, next } = await scripted()
    const answer = (change: Partial<WelcomePayload['subscription']>) => ({
      subscription: { ...makeWelcome('me').subscription, ...change },
    })
    const granted = seat.subscribe({ reasoning: 'none' })
    first.welcome(answer({ reasoning: 'none' }), first.sent.at(-1))
    await granted
    const refused = seat.subscribe({ from: ['re:('] })
    const { id } = first.sent.at(-1) ?? {}
    const error = { code: 'invalid_payload', message: 'no such pattern' }
    first.deliver(fromGateway('system.error', error, { correlationId: id }))
    await expect(refused).rejects.toMatchObject({ code: 'invalid_payload' })
    first.close(1006)
    const waiting = seat.subscribe({ reasoning: 'boundaries' })
    const second = await next()
    second.welcome()
    expect(second.sent.map(({ kind, payload }) => [kind, payload])).toEqual([
      ['observe.subscribe', { reasoning: 'none' }],
      ['observe.subscribe', { reasoning: 'boundaries' }],
    ])
    second.welcome(answer({ reasoning: 'none' }), second.sent[0])
    second.welcome(answer({ reasoning: 'boundaries' }), second.sent[1])
    expect((await waiting).subscription.reasoning).toBe('boundaries')
    const unanswered = seat.subscribe({ kinds: ['chat'] })
    seat.close()
    await expect(unanswered).rejects.toMatchObject({ code: 'closed' })
    await expect(seat.subscribe({})).rejects.toMatchObject({ code: 'closed' })
  })

  test('is not answered by a welcome that tells of something else', async () => {
    const { seat, first } = await scripted()
    const asked = seat.subscribe({ reasoning: 'none' })
    first.welcome({ you: { id: 'me', capabilities: ['chat', 'mcp.*'] } })
    expect(seat.capabilities).toEqual(['chat', 'mcp.*'])
    const subscription = { reasoning: 'none', suppressed: { envelopes: 0, bytes: 0 } } as const
    first.welcome({ subscription }, first.sent.at(-1))
    expect((await asked).subscription.reasoning).toBe('none')
    seat.close()
  })
})

describe('who is there', () => {
  const presence = (seat: SpaceClient) =>
    Object.fromEntries(seat.participants.map(({ id, status }) => [id, status]))

  test('is told at the door, and as people come and go', async () => {
    await using here = await couple()
    expect(presence(here.ana)).toMatchObject({ ana: 'present', cid: 'away' })
    const cid = await here.space.join('cid')
    await here.ana.whenPresent(['bob', 'cid'])
    expect(presence(here.ana)).toEqual({ ana: 'present', bob: 'present', cid: 'present' })
    expect(here.ana.participants.find(({ id }) => id === 'cid')?.capabilities).toEqual(['*'])
    cid.close()
    await eventually(() => expect(presence(here.ana)).toMatchObject({ cid: 'away' }))
  })

  test('can be waited for', async () => {
    await using here = await couple()
    await here.ana.whenPresent([])
    await here.ana.whenPresent(['bob'])
    const coming = here.ana.whenPresent(['bob', 'cid'])
    await here.space.join('cid')
    await coming
  })

  test('waiting ends by time, by signal, and with the space', async () => {
    await using here = await couple()
    await expect(here.ana.whenPresent(['cid'], { timeoutMs: 1 })).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'timeout',
      message: expect.stringContaining('cid'),
    })
    const signal = AbortSignal.abort('no use')
    await expect(here.ana.whenPresent(['cid'], { signal })).rejects.toMatchObject({ code: 'aborted' })
    const waiting = expect(here.ana.whenPresent(['cid'])).rejects.toMatchObject({ code: 'closed' })
    here.ana.close()
    await waiting
    await expect(here.ana.whenPresent(['bob'])).rejects.toMatchObject({ code: 'closed' })
  })
})
