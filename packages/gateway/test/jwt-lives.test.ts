import { memoryStore } from '@meup/gateway'
import { testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { errorFor } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { eventsOf, open, withRights } from './members.js'

describe('when the token expires', () => {
  test('its socket is closed with 4401, its stream ends, and nobody else loses anything', async () => {
    const { clock, dial, enter, events, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const exp = Math.floor(clock.now() / 1000) + 90
    const token = await tokenFor('dan', { exp })
    const [dan, longer] = [await enter(token), await enter(await tokenFor('dan'))]
    const stream = await events(token)
    clock.advance((exp + 4) * 1000 - clock.now())
    await dan.accepted({ kind: 'chat', payload: { message: 'still here' } })
    clock.advance(1000)
    expect(await dan.closed).toMatchObject({ code: 4401 })
    expect(JSON.parse((await stream.next(({ event }) => event === 'error')).data)).toMatchObject({
      code: 4401,
    })
    await stream.rest()
    expect(await dial(token)).toBe(401)
    await longer.accepted({ kind: 'chat', payload: { message: 'with the other token' } })
    await alice.accepted({ kind: 'chat', payload: { message: 'and so do I' } })
    expect(eventsOf(alice.frames, 'dan')).toEqual(['update', 'join'])
  })

  test('however far off that is', async () => {
    const { clock, enter, tokenFor } = await open()
    const day = 24 * 3600
    const dan = await enter(await tokenFor('dan', { exp: Math.floor(clock.now() / 1000) + 100 * day }))
    clock.advance(99 * day * 1000)
    expect(dan.ws.readyState).toBe(WebSocket.OPEN)
    clock.advance(day * 1000 + 5000)
    expect(await dan.closed).toMatchObject({ code: 4401 })
  })
})

describe('a member', () => {
  test('is known after a restart, with what it was given last', async () => {
    const store = memoryStore()
    const log = await store.open('test')
    const keeping = { open: async () => log, close: async () => {} }
    const first = await open({}, keeping)
    expect(await first.post(await first.tokenFor('dan', withRights('*')), 'hello')).toBe(201)
    await first.served.close()
    const second = await open({}, keeping)
    expect(await second.known()).toContainEqual({
      id: 'dan',
      kind: 'agent',
      capabilities: ['*'],
      status: 'away',
    })
    const alice = await second.enter(testToken('alice'))
    await alice.accepted({ kind: 'chat', to: ['dan'], payload: { message: 'welcome back' } })
  })

  test('becomes what the operator makes of it, and nothing when that is taken back', async () => {
    const { config, dial, enter, gateway, known, tokenFor } = await open()
    const token = await tokenFor('dan', withRights('*'))
    const dan = await enter(token)
    const named = { ...config.participants, dan: { kind: 'human', capabilities: ['chat'] } }
    await gateway.reconfigure([{ ...config, participants: named }])
    const again = await dan.next(({ kind }) => kind === 'system.welcome')
    expect(again.payload.you).toEqual({ id: 'dan', capabilities: ['chat'] })
    await gateway.reconfigure([config])
    expect(await dan.closed).toMatchObject({ code: 4401 })
    expect((await known()).map(({ id }) => id)).toEqual(['alice', 'ben'])
    expect(await dial(token)).not.toBe(401) // The issuer still accepts the token.
  })

  test('stays when the operator changes something else', async () => {
    const { config, enter, gateway, known, post, tokenFor } = await open()
    await post(await tokenFor('erin'), 'by request alone')
    const dan = await enter(await tokenFor('dan'))
    await gateway.reconfigure([{ ...config, guest: { capabilities: [] }, mcp: { visibility: 'addressees' } }])
    await dan.accepted({ kind: 'chat', payload: { message: 'still here' } })
    expect((await known()).map(({ id }) => id)).toEqual(['alice', 'ben', 'erin', 'dan'])
  })

  test('loses its connection when its issuer is no longer trusted', async () => {
    const { config, enter, gateway, jwt, tokenFor } = await open()
    const [alice, dan] = [await enter(testToken('alice')), await enter(await tokenFor('dan'))]
    jwt.replace(undefined)
    await gateway.reconfigure([config])
    expect(await dan.closed).toMatchObject({ code: 4401 })
    await alice.accepted({ kind: 'chat', payload: { message: 'still here' } })
  })

  test('can be kicked, and cannot be invited away under its name', async () => {
    const { dial, enter, post, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const token = await tokenFor('dan')
    const dan = await enter(token)
    await alice.accepted({ kind: 'space.kick', payload: { participantId: 'dan', reason: 'enough' } })
    expect(await dan.closed).toMatchObject({ code: 4403 })
    expect([await dial(token), await post(token, 'let me in')]).toEqual([403, 403])
    expect(await dial(await tokenFor('dan', withRights('*')))).toBe(403)
    const back = await alice.accepted({
      id: 'back',
      kind: 'space.invite',
      payload: { participantId: 'dan', capabilities: [] },
    })
    expect(back.payload).not.toHaveProperty('tokenSha256')
    await enter(token)
  })

  test('takes its name from whoever was invited under it', async () => {
    const { enter, known, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    await alice.accepted({ kind: 'space.invite', payload: { participantId: 'dan', capabilities: ['mcp.*'] } })
    await enter(await tokenFor('dan'))
    expect(await known()).toContainEqual({
      id: 'dan',
      kind: 'agent',
      capabilities: ['chat'],
      status: 'present',
    })
  })

  test('is forgotten when a thousand others have come and gone since', async () => {
    const { gateway, known, tokenFor } = await open()
    const visit = async (sub: string) => {
      const answer = await gateway.identify({ space: 'test', token: await tokenFor(sub), remote: 'here' })
      expect(answer).toMatchObject({ participant: sub })
    }
    for (let n = 0; n < 1000; n++) await visit(`m${n}`)
    await visit('m0')
    const ids = async () => (await known()).map(({ id }) => id)
    expect(await ids()).toHaveLength(1002)
    await visit('one-more')
    expect(await ids()).toHaveLength(1002)
    expect(await ids()).not.toContain('m0')
  })
})

test('a log that takes nothing lets nobody in who is new, and does not say that the token is bad', async () => {
  const disk = faultyDisk(memoryStore())
  const { dial, enter, post, tokenFor } = await open({}, disk.store)
  const dan = await enter(await tokenFor('dan'))
  const stalled = disk.stall()
  dan.send({ id: 'lost', kind: 'chat', payload: { message: 'lost' } })
  await stalled.appending
  disk.fault.unreadable = true
  stalled.fail()
  await dan.next(errorFor('lost'))
  expect(await dial(await tokenFor('erin'))).toBe(503)
  expect(await post(await tokenFor('erin'), 'hello')).toBe(503)
  disk.fault.unreadable = false
})
