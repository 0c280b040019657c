import { testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byId, presence } from '../../../gateway/test/client.js'
import { participants, statusOf, tokenFor } from '../../../gateway/test/invite-space.js'
import { eventsOf, open as openIssuer, withRights } from '../../../gateway/test/members.js'
import { type StartOptions, start } from '../../../gateway/test/support.js'
import { chat, grant, invite, kick, welcomes } from '../../../gateway/test/trust.js'
import { openNats, withNats } from '../nats.js'

/** Two gateways that share the log of one space: the first one writes it, the second one follows. */
async function two(options: Partial<StartOptions> = {}) {
  const { store } = await openNats()
  const stores = [await store(), await store()] as const
  const one = await start({ participants, ...options, store: stores[0] })
  const follower = await start({ participants, ...options, store: stores[1] })
  const [log, following] = [await stores[0].open('test'), await stores[1].open('test')]
  expect([log.shared?.leads, following.shared?.leads]).toEqual([true, false])
  return { one, follower }
}

const idsIn = (frames: readonly Envelope[]): string[] =>
  frames.filter(({ seq }) => seq !== undefined).map(({ id }) => id)

test(
  'an invitation that is made where the space is followed opens it there at once, and elsewhere; a kick ends it at both',
  withNats(async () => {
    const { one, follower } = await two()
    const [root, host] = [await one.connect('root'), await follower.connect('host')]
    for (let i = 0; i < 20; i++) {
      const token = await tokenFor(host, invite(`newt-${i}`, ['chat']))
      const newt = await follower.dial({ token })
      expect(newt.welcome.you).toEqual({ id: `newt-${i}`, capabilities: ['chat'] })
      await newt.accepted({ id: `hello-${i}`, ...chat() })
    }
    const token = await tokenFor(host, invite('last', ['chat']))
    const there = await follower.dial({ token })
    await root.next(presence('join', 'last'))
    const here = await one.dial({ token })
    await here.accepted({ id: 'once', ...chat() })
    await there.next(byId('once'))
    expect(await statusOf(follower, `${token.slice(0, -1)}_`)).toBe(401)
    expect(await there.refused({ kind: 'work.dig', payload: {} })).toMatchObject({
      code: 'capability_violation',
    })
    await root.accepted(kick('last'))
    expect((await there.closed).code).toBe((await here.closed).code)
    const statuses = async () => [await statusOf(one, token), await statusOf(follower, token)]
    await expect.poll(async () => new Set(await statuses()).size).toBe(1)
    expect(idsIn(root.frames).filter((id) => id.startsWith('hello-'))).toHaveLength(20)
  }),
)

test(
  'guests of the gateway that follows are told of, may what guests may, and leave',
  withNats(async () => {
    const { one, follower } = await two({ guest: { capabilities: ['chat'] } })
    const root = await one.connect('root')
    for (let i = 0; i < 10; i++) {
      const guest = await follower.dial({})
      const { id, capabilities } = guest.welcome.you
      expect([id.startsWith('guest-'), capabilities]).toEqual([true, ['chat']])
      // Sends at once, without waiting until the other gateway knows the guest.
      const { seq } = await guest.accepted(chat(`from guest ${i}`))
      expect(await root.next((frame) => frame.seq === seq)).toMatchObject({ from: id })
      expect(await guest.refused({ kind: 'work.dig', payload: {} })).toMatchObject({
        code: 'capability_violation',
      })
      await guest.close()
      await root.next(presence('leave', id))
      expect(root.frames.filter(presence('join', id))).toHaveLength(1)
    }
  }),
)

test(
  'a guest keeps its capabilities while rights of others change before the log says that it is present',
  withNats(async () => {
    const { one, follower } = await two({ guest: { capabilities: ['chat'] } })
    const root = await one.connect('root')
    for (let i = 0; i < 10; i++) {
      const changes = [
        root.accepted(grant('host', [`work.dig-${i}`])),
        root.accepted(grant('host', [`work.fill-${i}`])),
      ]
      const guest = await follower.dial({})
      await Promise.all(changes)
      await guest.accepted(chat(`from guest ${i}`))
      expect(new Set(welcomes(guest).map(({ payload }) => JSON.stringify(payload.you)))).toEqual(
        new Set([JSON.stringify({ id: guest.welcome.you.id, capabilities: ['chat'] })]),
      )
      await guest.close()
    }
  }),
)

test(
  'a token of the issuer makes a participant at the gateway that follows as at the other one',
  withNats(async () => {
    const { store } = await openNats()
    const one = await openIssuer({}, await store())
    const follower = await openIssuer({}, await store())
    const alice = await one.enter(testToken('alice'))
    const dan = await follower.enter(await follower.tokenFor('dan', withRights('chat', 'reasoning.*')))
    expect(dan.frames[0]?.payload.you).toEqual({ id: 'dan', capabilities: ['chat', 'reasoning.*'] })
    await dan.accepted({ kind: 'reasoning.start', payload: {} })
    await alice.next(({ kind, from }) => kind === 'reasoning.start' && from === 'dan')
    expect(await dan.refused({ kind: 'mcp.request', payload: { method: 'x' } })).toMatchObject({
      code: 'capability_violation',
    })
    expect(eventsOf(alice.frames, 'dan')).toEqual(['update', 'join'])
    const known = { id: 'dan', kind: 'agent', capabilities: ['chat', 'reasoning.*'], status: 'present' }
    for (const gateway of [one, follower]) {
      await expect.poll(() => gateway.known()).toContainEqual(known)
    }
    expect(await follower.post(await follower.tokenFor('eve'), 'hello')).toBe(201)
    await alice.next(({ from, payload }) => from === 'eve' && payload.message === 'hello')
    expect(eventsOf(alice.frames, 'eve')).toEqual(['update'])
    expect(await follower.dial('no-token-at-all')).toBe(401)
  }),
)
