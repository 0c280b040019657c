import { type EnvelopeLog, type LogStore, memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { errorFor, ofKind, range } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { open, participants } from './grant-space.js'
import { start } from './support.js'
import { act, chat, codeOf, grant, NoTimers, revoke, update, welcomeWith } from './trust.js'

describe('time', () => {
  test('ends a grant to the millisecond, and what rested on it; those who have lost something are told', async () => {
    const clock = new FakeClock()
    const { lead, ann, ben } = await open({ clock })
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    await lead.accepted(grant('ann', ['work.dig', 'capability.grant'], { expiresAt }))
    await ann.accepted(grant('ben', ['work.dig']))
    clock.advance(999)
    await ben.accepted(act('work.dig'))
    clock.advance(1)
    ben.send({ id: 'late', ...act('work.dig') })
    for (const client of [ann, ben]) await client.next(welcomeWith([]))
    expect(await ben.next(errorFor('late'))).toMatchObject({ payload: { code: 'capability_violation' } })
    await lead.until(update('ben', []))
    expect(lead.frames.some(update('ann', []))).toBe(true)
  })

  test('is told of though nobody does anything', async () => {
    const clock = new FakeClock()
    const { lead, ann } = await open({ clock })
    const soon = new Date(clock.now() + 5000).toISOString()
    const later = new Date(clock.now() + 90 * 24 * 3600_000).toISOString()
    await lead.accepted(grant('ann', ['work.fill'], { expiresAt: later }))
    await lead.accepted(grant('ann', ['work.dig'], { expiresAt: soon }))
    await ann.next(update('ann', ['work.fill', 'work.dig']))
    clock.advance(5000)
    await ann.next(update('ann', ['work.fill']))
    clock.advance(90 * 24 * 3600_000)
    await ann.next(update('ann', []))
  })
})

test('what cannot be told while the log is broken is told when it has recovered', async () => {
  const [clock, broken] = [new FakeClock(), { is: true }]
  const disk = faultyDisk(memoryStore())
  const store: LogStore = {
    ...disk.store,
    async open(space) {
      const log = await disk.store.open(space)
      const recover = async (): Promise<void> => {
        if (broken.is) throw new Error('the disk is still full')
        await log.recover()
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { recover })
    },
  }
  const { root, lead, ann } = await open({ store, clock })
  const expiresAt = new Date(clock.now() + 5000).toISOString()
  await lead.accepted(grant('ann', ['work.dig'], { expiresAt }))
  await root.next(update('ann', ['work.dig']))
  const { appending, fail } = disk.stall()
  lead.send({ id: 'lost', ...chat() })
  await appending
  fail()
  await lead.next(errorFor('lost'))
  await ann.subscribe({})
  clock.advance(5000)
  await ann.next(welcomeWith([]))
  expect(await codeOf(ann, act('work.dig'))).toBe('unavailable')
  broken.is = false
  clock.advance(10_000)
  await root.next(update('ann', []))
})

describe('the clock', () => {
  test('is looked at with each envelope, whatever timers do', async () => {
    const clock = new NoTimers()
    const { lead, ann } = await open({ clock })
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    await lead.accepted(grant('ann', ['work.dig'], { expiresAt }))
    clock.advance(999)
    await ann.accepted(act('work.dig'))
    clock.advance(1)
    expect(await codeOf(ann, act('work.dig'))).toBe('capability_violation')
  })
  test('does not bring back what has ended where it is put back, after a restart neither', async () => {
    const [clock, spaces] = [new NoTimers(), new Map()]
    const { lead, ann, close } = await open({ store: memoryStore(spaces), clock })
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    await lead.accepted(grant('ann', ['work.dig'], { expiresAt }))
    clock.advance(1000)
    expect(await codeOf(ann, { kind: 'nope.', payload: {} })).toBe('invalid_envelope')
    clock.advance(-1000)
    expect(await codeOf(ann, act('work.dig'))).toBe('capability_violation')
    const { ts } = await lead.accepted(chat())
    expect(ts >= expiresAt).toBe(true)
    await close()
    const again = await open({ store: memoryStore(spaces), clock })
    expect(again.ann.welcome.you.capabilities).toEqual([])
  })
})

describe('a restart', () => {
  /** A gateway that can be restarted on its log. */
  async function restartable() {
    const spaces = new Map()
    const clock = new FakeClock()
    const first = await open({ store: memoryStore(spaces), clock })
    const again = async () => {
      await first.close()
      return open({ store: memoryStore(spaces), clock })
    }
    return { ...first, spaces, clock, again }
  }

  test('ends what has expired meanwhile, and tells of it', async () => {
    const { lead, ann, clock, again } = await restartable()
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    await lead.accepted(grant('ann', ['work.dig'], { expiresAt }))
    await ann.next(update('ann', ['work.dig']))
    clock.advance(500)
    const next = again()
    clock.advance(500)
    const { ann: later, connect } = await next
    expect(later.welcome.you.capabilities).toEqual([])
    expect(await codeOf(later, act('work.dig'))).toBe('capability_violation')
    const reader = await connect('root', { query: 'after=0' })
    await reader.until(update('ann', []))
  })

  test('ends what expires though nobody is there, and tells of it at once', async () => {
    const { lead, ann, clock, spaces, close } = await restartable()
    const expiresAt = new Date(clock.now() + 1000).toISOString()
    await lead.accepted(grant('ann', ['work.dig'], { expiresAt }))
    await ann.next(update('ann', ['work.dig']))
    await close()
    const { connect, gateway } = await start({ participants, store: memoryStore(spaces), clock })
    clock.advance(1000)
    clock.advance(1000)
    await gateway.reconfigure([]) // Changes nothing, but resolves only once the notices are logged.
    const reader = await connect('root', { query: 'after=0' })
    expect(await reader.next(update('ann', []))).toMatchObject({ ts: expiresAt })
  })

  test('in the middle of a cascade tells what the first gateway could not tell any more', async () => {
    const spaces = new Map()
    const disk = faultyDisk(memoryStore(spaces))
    const { lead, ann, root } = await open({ store: disk.store })
    const { id } = await lead.accepted(grant('ann', ['work.dig', 'capability.grant']))
    await ann.accepted(grant('ben', ['work.dig']))
    await root.next(update('ben', ['work.dig']))
    const { written, goOn } = disk.stallAcknowledgement()
    lead.send(revoke('ann', { grantId: id }))
    await written // The log has the revocation; the append is never acknowledged, as if the gateway had ended.
    const { ben, connect } = await open({ store: memoryStore(spaces) })
    expect(ben.welcome.you.capabilities).toEqual([])
    expect(await codeOf(ben, act('work.dig'))).toBe('capability_violation')
    const reader = await connect('root', { query: 'after=0' })
    await reader.next(ofKind('capability.revoke'))
    await reader.until(update('ben', []))
    expect(reader.frames.some(update('ann', []))).toBe(true)
    goOn()
  })
})

test('whoever takes back a little from a grantor has nothing fall that rests on what the operator gave it', async () => {
  const tools = range(1, 40).map((n) => ({ tool: `files/do_${n}_*` }))
  const people = range(1, 200).map((n) => `p${n}`)
  const { connect } = await start({
    participants: {
      admin: ['capability.grant', ...tools],
      eve: ['chat', 'capability.grant'],
      ...Object.fromEntries(people.map((id) => [id, []])),
    },
  })
  const [admin, eve] = [await connect('admin'), await connect('eve')]
  const { id: grantId } = await eve.accepted(grant('admin', ['chat']))
  for (const [n, id] of people.entries()) {
    const given = [1 + (n % 40), 1 + ((7 * n) % 40)].map((tool) => ({ tool: `files/do_${tool}_a` }))
    await admin.accepted(grant(id, given))
  }
  await eve.accepted(revoke('admin', { grantId }))
  const { welcome } = await connect('eve')
  const holders = welcome.participants.filter(
    ({ id, capabilities }) => people.includes(id) && capabilities.length > 0,
  )
  expect(holders).toHaveLength(people.length)
})
