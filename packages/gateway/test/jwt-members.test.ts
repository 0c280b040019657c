import { testToken } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { eventsOf, open, presenceOf, withRights } from './members.js'

describe('whoever comes with a token of the issuer', () => {
  test('is a participant, with the capabilities of the token, and everybody hears of it', async () => {
    const { enter, known, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const dan = await enter(await tokenFor('dan', withRights('chat', 'reasoning.*')))
    expect(dan.frames[0]?.payload.you).toEqual({ id: 'dan', capabilities: ['chat', 'reasoning.*'] })
    await dan.accepted({ kind: 'reasoning.start', payload: {} })
    expect(await dan.refused({ kind: 'mcp.request', payload: { method: 'x' } })).toMatchObject({
      code: 'capability_violation',
    })
    await alice.next(({ kind }) => kind === 'reasoning.start')
    expect(eventsOf(alice.frames, 'dan')).toEqual(['update', 'join'])
    expect(await known()).toContainEqual({
      id: 'dan',
      kind: 'agent',
      capabilities: ['chat', 'reasoning.*'],
      status: 'present',
    })
  })

  test('has the defaults where the token says nothing', async () => {
    const { enter, tokenFor } = await open()
    const dan = await enter(await tokenFor('dan'))
    expect(dan.frames[0]?.payload.you).toEqual({ id: 'dan', capabilities: ['chat'] })
  })

  test.each([
    ['its own tools', ['alice', 'ben'], 'dan/*'],
    ['the tools of the participant that is called me', ['alice', 'me'], 'me/*'],
  ])('may use %s where the defaults say me', async (_, names, tool) => {
    const participants = Object.fromEntries(names.map((id) => [id, ['*']]))
    const { enter, tokenFor } = await open({ participants, usual: ['chat', { tool: 'me/*' }] })
    const dan = await enter(await tokenFor('dan'))
    expect(dan.frames[0]?.payload.you).toEqual({ id: 'dan', capabilities: ['chat', { tool }] })
    expect(dan.frames[0]?.payload.participants).toContainEqual(
      expect.objectContaining({ id: 'dan', capabilities: ['chat', { tool }] }),
    )
    expect(await dan.refused({ kind: 'mcp.request', to: ['alice'], payload: { method: 'x' } })).toMatchObject(
      {
        code: 'capability_violation',
      },
    )
  })

  test('can be addressed when it has left, and comes back as the same', async () => {
    const { enter, known, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const dan = await enter(await tokenFor('dan'))
    await dan.close()
    await alice.next((frame) => presenceOf('dan')(frame) && frame.payload.event === 'leave')
    await alice.accepted({ kind: 'chat', to: ['dan'], payload: { message: 'for later' } })
    expect(await known()).toContainEqual({ id: 'dan', kind: 'agent', capabilities: ['chat'], status: 'away' })
    await enter(await tokenFor('dan'))
    await alice.next((frame) => presenceOf('dan')(frame) && frame.payload.event === 'join')
    expect(eventsOf(alice.frames, 'dan')).toEqual(['update', 'join', 'leave', 'join'])
  })

  test('needs no socket: the first request makes it known', async () => {
    const { enter, known, post, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const token = await tokenFor('dan')
    expect(await post(token, 'hello')).toBe(201)
    expect(await post(token, 'again')).toBe(201)
    await alice.next(({ from, payload }) => from === 'dan' && payload.message === 'again')
    expect(eventsOf(alice.frames, 'dan')).toEqual(['update'])
    expect(await known()).toContainEqual({ id: 'dan', kind: 'agent', capabilities: ['chat'], status: 'away' })
    await alice.accepted({ kind: 'chat', to: ['dan'], payload: { message: 'hello' } })
  })

  test('has what the operator configured where it did', async () => {
    const { enter, tokenFor } = await open()
    const ben = await enter(await tokenFor('ben', withRights('*')))
    expect(ben.frames[0]?.payload.you).toEqual({ id: 'ben', capabilities: ['chat'] })
    await ben.accepted({ kind: 'chat', payload: { message: 'hello' } })
    expect(eventsOf(ben.frames, 'ben')).toEqual(['join'])
  })

  test('is refused where its name could be taken for that of another', async () => {
    const { dial, enter, ask, tokenFor } = await open()
    for (const sub of ['ALICE', 'al-ice', 'Ben.']) {
      const token = await tokenFor(sub)
      expect([await dial(token), (await ask(token)).status]).toEqual([403, 403])
    }
    await enter(await tokenFor('dan'))
    expect(await dial(await tokenFor('Dan'))).toBe(403)
    await enter(await tokenFor('dan'))
  })

  test('is refused with 401 where the token is not good; those in files go on', async () => {
    const { dial, enter, ask, tokenFor } = await open()
    const expired = await tokenFor('dan', { exp: 1 })
    expect([await dial(expired), (await ask(expired)).status]).toEqual([401, 401])
    await enter(testToken('ben'))
  })
})

describe('a newer token', () => {
  test('gives other capabilities: at once, also to the connection that is open', async () => {
    const { clock, enter, post, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const dan = await enter(await tokenFor('dan', withRights('chat')))
    clock.advance(2000)
    expect(await post(await tokenFor('dan', withRights('reasoning.*')), 'no')).toBe(403)
    const again = await dan.next(({ kind }) => kind === 'system.welcome')
    expect(again.payload.you).toEqual({ id: 'dan', capabilities: ['reasoning.*'] })
    await dan.accepted({ kind: 'reasoning.start', payload: {} })
    await alice.next(({ kind }) => kind === 'reasoning.start')
    const updates = alice.frames.filter(presenceOf('dan')).filter(({ payload }) => payload.event === 'update')
    expect(updates.map(({ payload }) => payload.participant)).toEqual([
      { id: 'dan', capabilities: ['chat'] },
      { id: 'dan', capabilities: ['reasoning.*'] },
    ])
  })

  test('is not undone by an older one, and says nothing where nothing changes', async () => {
    const { clock, enter, post, tokenFor } = await open()
    const alice = await enter(testToken('alice'))
    const older = await tokenFor('dan', withRights('*'))
    clock.advance(2000)
    expect(await post(await tokenFor('dan', withRights('chat')), 'one')).toBe(201)
    const dan = await enter(older)
    expect(dan.frames[0]?.payload.you).toEqual({ id: 'dan', capabilities: ['chat'] })
    clock.advance(2000)
    expect(await post(await tokenFor('dan', withRights('chat')), 'two')).toBe(201)
    await alice.next(({ payload }) => payload.message === 'two')
    expect(eventsOf(alice.frames, 'dan')).toEqual(['update', 'join'])
  })
})
