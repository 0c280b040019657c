import { sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { openContexts } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, range, type Sent } from './client.js'
import { type Running, start, temporaryFile } from './support.js'

const many = openContexts.all / openContexts.own + 1
const thinkers = Object.fromEntries(range(1, many).map((n) => [`t${n}`, ['reasoning.*', 'chat']]))
const participants = { alice: ['*'], ...thinkers }
const begin = (id: string, more: object = {}): Sent => ({ id, kind: 'reasoning.start', ...more })
const end = (context: string): Sent => ({ kind: 'reasoning.conclusion', context })
const ownLimit = { code: 'rate_limited', details: { class: 'reasoning', limit: 'ownOpenContexts' } }

/** Opens the maximum number of contexts of one participant. */
async function fill({ post }: Pick<Running, 'post'>, who: string, more: object = {}): Promise<void> {
  const starts = range(1, openContexts.own).map((n) => begin(`${who}-${n}`, more))
  expect((await post(who, starts)).status).toBe(201)
}

describe('contexts that are open at once', () => {
  test('are so many of one participant at most, nested ones too; one that is closed makes room', async () => {
    const running = await start({ participants })
    const t1 = await running.connect('t1')
    await t1.accepted(begin('run'))
    const starts = range(2, openContexts.own).map((n) => begin(`n${n}`, { context: 'run' }))
    expect((await running.post('t1', starts)).status).toBe(201)
    const refused = await t1.refused(begin('one-more', { context: 'run' }))
    expect(refused).toMatchObject(ownLimit)
    expect(refused.retryAfterMs).toBeUndefined()
    expect(await t1.refused(begin('another'))).toMatchObject(ownLimit)
    // A start in a path that no start has opened (a free path) opens no context, so it does not count.
    await t1.accepted(begin('nowhere', { context: 'a-free-path' }))
    await t1.accepted({ kind: 'reasoning.thought', context: 'run', payload: { message: 'go on' } })
    const t2 = await running.connect('t2')
    await t2.accepted(begin('of-another'))

    await t1.accepted(end('run/n2'))
    await t1.accepted(begin('in-its-place'))
    expect(await t1.refused(begin('and-another'))).toMatchObject(ownLimit)
    await t1.accepted(end('run'))
    const anew = range(1, openContexts.own - 1).map((n) => begin(`a${n}`))
    expect((await running.post('t1', anew)).status).toBe(201)
    const { contexts } = (await running.connect('alice')).welcome
    expect(contexts.filter(({ owner }) => owner === 't1')).toHaveLength(openContexts.own)
  })

  test('are so many of a space at most, and so a welcome goes into the send buffer', async () => {
    const running = await start({ participants })
    for (const n of range(1, many - 1)) await fill(running, `t${n}`)
    const last = await running.connect(`t${many}`)
    const limit = { code: 'rate_limited', details: { class: 'reasoning', limit: 'openContexts' } }
    expect(await last.refused(begin('one-more'))).toMatchObject(limit)
    const alice = await running.connect('alice')
    expect(alice.welcome.contexts).toHaveLength(openContexts.all)
    expect((await running.post('t1', end('t1-1'))).status).toBe(201)
    await last.accepted(begin('now'))
  })

  test('of guests leave room for participants, however many guests there are', async () => {
    const running = await start({ participants, guest: { capabilities: ['reasoning.*'] } })
    const guests = []
    for (let open = 0; open < openContexts.guests; open += openContexts.own) {
      const guest = await running.dial({})
      guests.push(guest)
      for (const n of range(1, openContexts.own)) guest.send(begin(`g${open + n}`))
      await guest.next(byId(`g${open + openContexts.own}`))
    }
    const refused = await (await running.dial({})).refused(begin('of-a-guest'))
    expect(refused).toMatchObject({
      ...ownLimit,
      details: { class: 'reasoning', limit: 'guestsOpenContexts' },
    })
    const t1 = await running.connect('t1')
    await t1.accepted(begin('of-a-participant'))
    await guests[0]?.accepted(end('g1'))
    await (await running.dial({})).accepted(begin('now'))
    expect(await guests[0]?.refused(begin('then'))).toMatchObject({
      details: { limit: 'guestsOpenContexts' },
    })
  })

  test('are counted after a restart as before', async () => {
    const path = temporaryFile('log.db')
    const open = async () => start({ participants, store: await sqliteStore({ path }) })
    const before = await open()
    await fill(before, 't1')
    await before.close()
    const after = await open()
    const t1 = await after.connect('t1')
    expect(await t1.refused(begin('one-more'))).toMatchObject(ownLimit)
    await t1.accepted(end('t1-1'))
    await t1.accepted(begin('in-its-place'))
    expect(await t1.refused(begin('one-more-still'))).toMatchObject(ownLimit)
  })

  test('of one that has left are made room of when they are abandoned', async () => {
    const clock = new FakeClock()
    const running = await start({ participants, clock })
    const t1 = await running.connect('t1')
    await fill(running, 't1')
    const alice = await running.connect('alice')
    t1.ws.close()
    await alice.next(({ kind, payload }) => kind === 'system.presence' && payload.event === 'leave')
    clock.advance(60_000)
    const cancelled = ({ kind, context }: { kind: string; context?: string }) =>
      kind === 'reasoning.cancel' && context === `t1-${openContexts.own}`
    await alice.next(cancelled)
    const again = await running.connect('t1')
    await again.accepted(begin('anew'))
    expect(again.welcome.contexts).toEqual([])
  })
})
