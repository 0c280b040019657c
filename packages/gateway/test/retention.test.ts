import { createHash } from 'node:crypto'
import { type EnvelopeLog, type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, type Client, range, type Sent, seqs } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { asking } from './http-client.js'
import { type StartOptions, start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const hour = 3_600_000
const day = 24 * hour
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })
const isPruned = ({ kind, payload }: Envelope): boolean =>
  kind === 'system.space' && payload.event === 'pruned'
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const hex = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString('hex')

/** Advances the clock by hours until the condition holds. */
async function hoursUntil(clock: FakeClock, hasHappened: () => boolean): Promise<void> {
  const oneMore = () => {
    clock.advance(hour)
    return hasHappened()
  }
  await expect.poll(oneMore, { interval: 5, timeout: 10_000 }).toBe(true)
}

/** A space whose retention is ten days. */
async function space(options: Partial<StartOptions> & { store?: LogStore; clock?: FakeClock } = {}) {
  const { store = memoryStore(), clock = new FakeClock() } = options
  const running = await start({ participants, retention: { days: 10 }, ...options, store, clock })
  const log = await store.open('test')
  return {
    ...running,
    clock,
    log,
    async pruned() {
      const { oldest } = log
      await hoursUntil(clock, () => log.oldest > oldest)
    },
  }
}

/** Envelopes of two ages: old ones up to the chat `old`, and from the chat `new` on, nine days later. */
async function withOldPart(options: Parameters<typeof space>[0] = {}) {
  const running = await space(options)
  const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
  await alice.accepted({ id: 'run', kind: 'reasoning.start' })
  await alice.accepted({ id: 'over', kind: 'reasoning.start' })
  await alice.accepted({ kind: 'reasoning.conclusion', context: 'over' })
  await alice.accepted({ id: 'ask', kind: 'mcp.request', to: ['bob'], payload: { method: 'tools/list' } })
  const old = await bob.accepted({ id: 'old', ...chat() })
  running.clock.advance(9 * day)
  const fresh = await bob.accepted({ id: 'new', ...chat() })
  return { ...running, alice, bob, old, fresh }
}

describe('what is older than the operator keeps', () => {
  test('is pruned, which is recorded for everyone before it happens', async () => {
    const { alice, bob, log, old, pruned } = await withOldPart()
    const rows = await log.read({ limit: 99 })
    await pruned()
    expect(log.oldest).toBe(old.seq + 1)
    const record = await alice.next(isPruned)
    expect(record).toMatchObject({ from: 'system:gateway', kind: 'system.space' })
    expect(record.payload).toEqual({
      event: 'pruned',
      through: old.seq,
      hash: hex(rows[old.seq - 1]?.hash),
      snapshot: sha256(log.snapshot?.bytes ?? new Uint8Array()),
    })
    expect(hex(log.snapshot?.hash)).toBe(record.payload.hash)
    expect(await bob.next(isPruned)).toEqual(record)
    await pruned()
    expect(log.oldest, 'the rest, some ten days later').toBeGreaterThan(old.seq + 1)
  })

  test('is gone from every view; who asks for it is told that it is lost', async () => {
    const { connect, post, alice, old, fresh, pruned } = await withOldPart()
    await pruned()
    const { seq: head } = await alice.accepted({ id: 'mark', ...chat() })
    const seen = async (query: string) => {
      const carol = await connect('carol', { query })
      const frames = await carol.until(byId('mark'))
      await carol.close()
      return { resume: carol.welcome.resume, from: seqs(frames)[0] }
    }
    const lost = { status: 'lost', from: old.seq + 1 }
    for (const query of ['after=0', `after=${old.seq - 1}`, `after=${old.seq + 1}&epoch=foreign`]) {
      expect(await seen(query), query).toMatchObject({ resume: lost, from: old.seq + 1 })
    }
    for (const after of [old.seq, fresh.seq]) {
      const resume = { status: 'replaying', from: after + 1 }
      expect(await seen(`after=${after}`)).toMatchObject({ resume, from: after + 1 })
    }
    expect(await seen('tail=999')).toMatchObject({
      resume: { status: 'replaying', from: old.seq + 1 },
      from: old.seq + 1,
    })
    const again = await alice.accepted({ id: 'old', ...chat('the id is free again') })
    expect(again.seq).toBeGreaterThan(head)
    expect(await post('bob', { id: 'new', ...chat() })).toMatchObject({
      body: [{ id: 'new', seq: fresh.seq }],
    })
  })

  test('keeps what it added up to: contexts, requests, participants, configuration', async () => {
    const stillKnows = async (alice: Client, bob: Client) => {
      const refusal = await bob.refused({ kind: 'reasoning.conclusion', context: 'run' })
      expect(refusal).toMatchObject({ code: 'forbidden' })
      const takeover = await bob.refused({ id: 'run', kind: 'reasoning.start' })
      expect(takeover).toMatchObject({ code: 'duplicate_id' })
      expect((await alice.subscribe({})).contexts).toMatchObject([{ context: 'run', owner: 'alice' }])
    }
    const path = temporaryFile('log.db')
    const { close, clock, alice, bob, pruned } = await withOldPart({ store: await sqliteStore({ path }) })
    await pruned()
    await stillKnows(alice, bob)
    await close()

    const again = await space({ store: await sqliteStore({ path }), clock })
    const [alice2, bob2] = [await again.connect('alice'), await again.connect('bob', { query: 'after=0' })]
    expect(alice2.welcome.participants.map(({ id }) => id)).toEqual(['alice', 'bob', 'carol'])
    await stillKnows(alice2, bob2)
    await bob2.accepted({ kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
    const twice = await bob2.refused({ kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
    expect(twice).toMatchObject({ code: 'forbidden' })
    await alice2.accepted({ kind: 'reasoning.conclusion', context: 'run' })
    const { seq } = await bob2.accepted(chat())
    expect(seqs(bob2.frames.slice(1))).toEqual(range(again.log.oldest, seq))
    expect(bob2.frames.some(({ payload }) => payload.event === 'configured')).toBe(false)
  })

  test('closes what was proposed in it: nobody can read any more what that was', async () => {
    const path = temporaryFile('log.db')
    const call = { method: 'tools/call', params: { name: 'act' } }
    const fulfil = (correlationId: string): Sent => ({ ...asked, kind: 'mcp.request', correlationId })
    const asked: Sent = { kind: 'mcp.proposal', to: ['carol'], payload: call }
    const running = await space({ store: await sqliteStore({ path }) })
    const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
    await bob.accepted({ ...asked, id: 'old' })
    running.clock.advance(9 * day)
    await bob.accepted({ ...asked, id: 'new' })
    await running.pruned()
    const gone = { code: 'proposal_not_found' }
    for (const kind of ['mcp.reject', 'mcp.withdraw']) {
      const from = kind === 'mcp.reject' ? alice : bob
      expect(await from.refused({ kind, correlationId: 'old', payload: { reason: 'no' } })).toMatchObject(
        gone,
      )
    }
    await running.close()
    const again = await space({ store: await sqliteStore({ path }), clock: running.clock })
    const back = await again.connect('alice')
    expect(back.welcome.proposals).toMatchObject([{ id: 'new' }])
    expect(
      await back.refused({ kind: 'mcp.reject', correlationId: 'old', payload: { reason: 'no' } }),
    ).toMatchObject(gone)
    await back.accepted(fulfil('new'))
  })

  verifies('A17', 'takes the steps of the audit with it, and none that are younger', async () => {
    for (const store of [memoryStore(), await sqliteStore({ path: temporaryFile('log.db') })]) {
      const { connect, clock, gateway, url, log, pruned } = await space({ store, retention: { days: 30 } })
      const audit = async () => {
        const answer = await asking(url, 'alice').json('/audit')
        return (answer as { steps: { content: string }[] }).steps.map(({ content }) => content)
      }
      const alice = await connect('alice')
      const think = (message: string, context = 'aside') =>
        alice.accepted({ kind: 'reasoning.thought', context, payload: { message } })
      await think('of 31 days ago', 'old')
      clock.advance(29.5 * day)
      await think('of yesterday')
      clock.advance(day)
      const { seq } = await think('of today')
      expect(await audit()).toEqual(['of today', 'of yesterday', 'of 31 days ago'])
      await pruned()
      await alice.next(isPruned)
      expect(await audit()).toEqual(['of today', 'of yesterday'])
      const visitor = await gateway.identify({ space: 'test', token: 'token-of-alice', remote: 'here' })
      if (!('turns' in visitor)) throw new Error('alice is not let in')
      const index = () => visitor.turns.indexer.reach(log.head)
      const job = { thread_id: 'test/alice', turn_number: null }
      expect(await asking(url, 'alice').json('/audit')).toMatchObject({ steps: [job, job] })
      const text = await (await asking(url, 'alice').get('/audit/export?format=markdown')).text()
      expect([text.match(/^## Turn/gm)?.length, text.includes('31 days ago')]).toEqual([1, false])
      await expect
        .poll(async () => {
          clock.advance(1000)
          return (await index()).trail(0, undefined, 9).length
        })
        .toBe(1)
      expect(log.oldest).toBeLessThan(seq ?? 0)
    }
  })

  test('is pruned at the start, and the newest row never', async () => {
    const path = temporaryFile('log.db')
    const { close, clock, alice, bob } = await withOldPart({ store: await sqliteStore({ path }) })
    await Promise.all([alice.close(), bob.close()])
    await close()
    clock.advance(100 * day)
    const { log } = await space({ store: await sqliteStore({ path }), clock })
    await expect.poll(() => log.oldest, { timeout: 10_000 }).toBeGreaterThan(1)
    const [oldest, record] = await log.read({ limit: 9 })
    expect(oldest?.ts, 'the newest that there was').toBe('2026-01-10T00:00:00.000Z')
    expect(record?.kind).toBe('system.space')
    expect(log.head).toBe(log.oldest + 1)
  })

  test.for([0, 30])('is nothing with %i days to keep', async (days) => {
    const { alice, bob, clock, log } = await withOldPart({ retention: { days } })
    for (const _ of range(1, 48)) {
      clock.advance(hour)
      await alice.accepted(chat())
    }
    await bob.subscribe({})
    expect(log.oldest).toBe(1)
    expect([...alice.frames, ...bob.frames].some(isPruned)).toBe(false)
  })
})

test('nothing is pruned until its record is in the log', async () => {
  const { store, stall } = faultyDisk(memoryStore())
  const { clock, log } = await withOldPart({ store })
  const { appending, fail } = stall()
  let isAppending = false
  void appending.then(() => {
    isAppending = true
  })
  await hoursUntil(clock, () => isAppending)
  fail()
  await hoursUntil(clock, () => log.oldest > 1)
  const rows = await log.read({ limit: 99 })
  expect(rows.map(({ kind }) => kind)).toContain('system.space')
})

/** A store whose logs refuse to prune while `refuses` is set. */
function reluctant(inner: LogStore) {
  const fault = { refuses: true }
  const store: LogStore = {
    async open(name) {
      const log = await inner.open(name)
      const faults: Pick<EnvelopeLog, 'prune'> = {
        prune: (through, bytes) =>
          fault.refuses ? Promise.reject(new Error('not now')) : log.prune(through, bytes),
      }
      return Object.assign(Object.create(log) as EnvelopeLog, faults)
    },
    close: () => inner.close(),
  }
  return { store, fault }
}

describe('a pruning that fails after its record', () => {
  test('is told to the operator and done again an hour later', async () => {
    const errors: unknown[] = []
    const logger = { info: () => {}, warn: () => {}, error: (fields: object) => errors.push(fields) }
    const { store, fault } = reluctant(memoryStore())
    const { alice, clock, log, old, pruned } = await withOldPart({ store, logger })
    await hoursUntil(clock, () => errors.length > 0)
    expect(errors[0]).toMatchObject({ space: 'test', err: new Error('not now') })
    const first = await alice.next(isPruned)
    expect(log.oldest).toBe(1)
    await alice.accepted(chat())
    fault.refuses = false
    await pruned()
    expect(log.oldest).toBe(old.seq + 1)
    expect((await alice.next(isPruned)).payload).toEqual(first.payload)
  })

  test('is done by the next start where it was cut off', async () => {
    const spaces = new Map()
    const { store } = reluctant(memoryStore(spaces))
    const { alice, clock, close, old } = await withOldPart({ store })
    await hoursUntil(clock, () => alice.frames.some(isPruned))
    await close()
    const { log } = await space({ store: memoryStore(spaces), clock })
    await expect.poll(() => log.oldest, { timeout: 10_000 }).toBe(old.seq + 1)
  })
})
