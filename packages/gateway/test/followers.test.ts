import { type EnvelopeLog, memoryStore } from '@meup/gateway'
import { createTestDraft, FakeClock, type TestSpaceOptions, testSpaceConfig } from '@meup/gateway/testing'
import { GATEWAY, Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { configurationRecord } from '../src/host/space-host.js'
import type { LogListener, Note, Row } from '../src/ports/envelope-log.js'
import { byId, ofKind } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['observe.targeted'] }

/**
 * A shared log, sequenced by another gateway unless `leads` is set, with functions that act as the other gateway. `asked` and
 * `notified` collect what is sent to it.
 */
async function followed(answer: (note: Note) => Record<string, unknown>, leads = false) {
  const inner = memoryStore()
  const log = await inner.open('test')
  const payload = { event: 'configured', ...configurationRecord(testSpaceConfig({ participants })) }
  const ts = '2026-01-01T00:00:00.000Z'
  await log.append([
    createTestDraft(1, { id: 'configured', ts, from: GATEWAY, kind: Kind.systemSpace, payload }),
  ])
  const asked: Note[] = []
  const notified: Note[] = []
  let listener: LogListener<Row> | undefined
  const shared = {
    leads,
    self: 'here',
    listen(given: LogListener<Row>) {
      listener = given
    },
    prune: async () => {},
    notify(_to: string, note: Note) {
      notified.push(note)
    },
    async ask(note: Note) {
      asked.push(note)
      return answer(note)
    },
  }
  const open = async () => Object.assign(Object.create(log) as EnvelopeLog, { shared })
  /** Sends a message of the other gateway. */
  const say = (head: object, body: object): void =>
    listener?.onNote({ head: { ...head }, body: Buffer.from(JSON.stringify(body)) })
  /** Appends an envelope as the other gateway. */
  const write = async (fields: {
    id: string
    from: string
    kind: string
    payload: Record<string, unknown>
  }): Promise<void> => {
    const after = log.head
    await log.append([createTestDraft(after + 1, { ts, ...fields })])
    listener?.onRows(await log.read({ after, limit: 1 }))
  }
  /** Ends the other gateway, so that this one sequences the log. */
  const takeOver = (): void => {
    shared.leads = true
    listener?.onLeaderLost()
  }
  return { store: { ...inner, open }, log, asked, notified, say, write, takeOver }
}

test('what a sender owes the gateway that sequences, it owes where its socket is', async () => {
  const clock = new FakeClock()
  const { store, asked } = await followed(() => ({ outcome: { id: 'x', seq: 1 }, owesMs: 5000 }))
  const { connect } = await start({ participants, clock, store })
  const alice = await connect('alice')
  const ask = async (count: number): Promise<void> => {
    alice.send({ kind: 'chat', payload: { message: 'hm' } })
    await expect.poll(() => asked).toHaveLength(count)
  }
  await ask(1)
  await ask(2)
  alice.send({ kind: 'chat', payload: { message: 'held' } })
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(asked).toHaveLength(2)
  clock.advance(5000)
  await expect.poll(() => asked).toHaveLength(3)
})

test('what waits for its rate, as the gateway that sequences says, is asked again when it is due, and the next after it', async () => {
  const clock = new FakeClock()
  const waits = (note: Note) => note.head.overRate === 'wait' && String(note.body).includes('"c2"')
  const { store, asked } = await followed((note) => ({
    outcome: { id: 'x', seq: 0, ...(waits(note) && { dueInMs: 500 }) },
  }))
  const { connect } = await start({ participants, clock, store })
  const alice = await connect('alice', { query: 'hold=1' })
  for (const id of ['c1', 'c2', 'c3']) alice.send({ id, kind: 'chat', payload: { message: 'hm' } })
  const sent = () => asked.map(({ head, body }) => [JSON.parse(String(body)).id, head.overRate])
  const before = [
    ['c1', 'wait'],
    ['c2', 'wait'],
  ]
  await expect.poll(sent).toEqual(before)
  clock.advance(500)
  await expect.poll(sent).toEqual([...before, ['c2', 'paid'], ['c3', 'wait']])
})

describe('a delta that another gateway has admitted [MEUP-3.25]', () => {
  const relay = (id: string, after: number, more: { to?: string[]; place?: object; text?: string } = {}) => {
    const { to, place, text = 'x' } = more
    const heading = { seq: 0, id, ts: '2026-01-01T00:00:00.000Z', from: 'alice', kind: Kind.chatDelta }
    const body = { ...heading, ...(to && { to }), correlationId: 'q', payload: { index: 0, text } }
    return [{ do: 'relay', heading: { ...heading, ...(to && { to }) }, after, place }, body] as const
  }
  const chat = (id: string) => ({ id, from: 'alice', kind: Kind.chat, payload: { message: 'hm' } })

  test('waits for what the log had there: who has lost the right to read it since does not get it', async () => {
    const { store, say, write } = await followed(() => ({}))
    const { connect } = await start({ participants, store })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    say(...relay('before', 1, { to: ['alice'] }))
    await bob.next(byId('before'))
    say(...relay('after', 2, { to: ['alice'] }))
    const config = testSpaceConfig({ participants: { alice: ['*'], bob: [] } })
    const payload = { event: 'configured', ...configurationRecord(config) }
    await write({ id: 'configured again', from: GATEWAY, kind: Kind.systemSpace, payload })
    await write(chat('end'))
    for (const each of [alice, bob]) await each.next(byId('end'))
    const seen = [alice, bob].map(({ frames }) => frames.filter(ofKind(Kind.chatDelta)).map(({ id }) => id))
    expect(seen).toEqual([['before', 'after'], ['before']])
  })

  test('does not go back to the connection that sent it, and is not sent on again', async () => {
    const { store, asked, say, write } = await followed(() => ({ outcome: { id: 'd', seq: 0 } }))
    const { connect } = await start({ participants, store })
    const [alice, other] = [await connect('alice'), await connect('alice')]
    alice.send({ id: 'd', kind: Kind.chatDelta, correlationId: 'q', payload: { index: 0, text: 'x' } })
    await expect.poll(() => asked).toHaveLength(1)
    const { line } = asked[0]?.head ?? {}
    say(...relay('d', 1, { place: { gateway: 'here', line } }))
    say(...relay('e', 1, { place: { gateway: 'there', line } }))
    await write(chat('end'))
    for (const each of [alice, other]) await each.next(byId('end'))
    const seen = [alice, other].map(({ frames }) => frames.filter(ofKind(Kind.chatDelta)).map(({ id }) => id))
    expect(seen).toEqual([['e'], ['d', 'e']])
  })

  test('is left out where many wait already', async () => {
    const { store, say, write } = await followed(() => ({}))
    const { connect } = await start({ participants, store })
    const bob = await connect('bob')
    for (let i = 0; i < 30; i++) say(...relay(`d${i}`, 2, { text: 'x'.repeat(100 * 1024) }))
    await write(chat('one'))
    await bob.next(byId('one'))
    say(...relay('last', 2))
    await bob.next(byId('last'))
    const ids = bob.frames.filter(ofKind(Kind.chatDelta)).map(({ id }) => id)
    // The deltas wait until the row logged before them has arrived; until then, at most 1 MiB of them is kept. A reader with
    // more than 64 KiB of unsent bytes gets no further ones.
    expect(ids.slice(0, 1)).toEqual(['d0'])
    expect(ids).not.toContain('d10')
  })
})

describe('how the program of a participant is doing', () => {
  const program = { state: 'restarting', count: 4 } as const

  test('is announced by the gateway beside which it runs to the one that sequences', async () => {
    const { store, notified } = await followed(() => ({}))
    const { gateway } = await start({ participants, store })
    gateway.setProgram('test', 'bob', program)
    expect(notified.at(-1)?.head).toMatchObject({ do: 'present', from: 'here', programs: [['bob', program]] })
    await gateway.close()
    expect(notified.at(-1)?.head).toMatchObject({ do: 'present', from: 'here', people: [], programs: [] })
  })

  test('is logged by the gateway that sequences, until the other one is gone', async () => {
    const clock = new FakeClock()
    const { store, say } = await followed(() => ({}), true)
    const { gateway, connect } = await start({ participants, store, clock })
    const alice = await connect('alice')
    const said = () =>
      alice.frames.filter(ofKind(Kind.systemPresence)).flatMap(({ payload }) => payload.program ?? [])
    const isOver = ({ payload }: { payload: Record<string, unknown> }): boolean => payload.program === null
    say({ do: 'present', from: 'there', people: [], programs: [['bob', program]] }, {})
    gateway.setProgram('test', 'alice', { state: 'running' })
    for (let i = 0; i < 4; i++) clock.advance(1000)
    expect(await alice.next(isOver)).toMatchObject({ payload: { participant: { id: 'bob' } } })
    expect(said()).toEqual([program, { state: 'running' }])
  })
})

test('the gateway that sequences tells what time has ended [MEUP-3.28]; the one that takes over, what is not told yet', async () => {
  const clock = new FakeClock(Date.UTC(2026, 0, 1))
  const { store, log, asked, write, takeOver } = await followed(() => ({ seq: 1 }))
  const { connect } = await start({ participants, store, clock })
  const alice = await connect('alice')
  const expiresAt = '2026-01-01T00:00:01.000Z'
  const propose = (id: string) =>
    write({ id, from: 'alice', kind: Kind.mcpProposal, payload: { method: 'x', expiresAt } })
  await propose('told')
  await propose('untold')
  await alice.next(byId('untold'))
  clock.advance(60_000)
  const payload = { event: 'update', participant: { id: 'alice' }, ended: { what: 'proposal', id: 'told' } }
  await write({ id: 'end', from: GATEWAY, kind: Kind.systemPresence, payload })
  await alice.next(byId('end'))
  expect([log.head, asked.filter(({ head }) => head.do === 'emit')]).toEqual([4, []])
  takeOver()
  const own = await alice.next(({ payload }) => payload.ended !== undefined)
  expect(own.payload.ended).toEqual({ what: 'proposal', id: 'untold' })
  clock.advance(60_000)
  await alice.accepted({ kind: 'chat', payload: { message: 'mark' } })
  expect(alice.frames.filter(({ payload }) => payload.ended !== undefined)).toHaveLength(2)
})

describe('a gateway that is configured otherwise than the one that sequences', () => {
  const others = { participants: { ...participants, eve: ['*'] }, mcp: { visibility: 'addressees' } } as const
  const recordedBy = (options: Partial<TestSpaceOptions>) => ({
    event: 'configured',
    ...configurationRecord(testSpaceConfig({ participants, ...options })),
  })

  async function differing() {
    const other = await followed(() => ({}))
    const warned: object[] = []
    const warn = (about: object): void => void warned.push(about)
    const logger = { info: () => {}, warn, error: warn }
    const running = await start({ ...others, store: other.store, logger })
    return { ...other, ...running, warned: () => warned.filter((about) => 'differs' in about) }
  }

  test('follows that one, and tells its operator what differs', async () => {
    const { connect, warned } = await differing()
    expect(warned()).toEqual([{ space: 'test', differs: ['participants', 'mcp'] }])
    const { welcome } = await connect('alice')
    expect(welcome.mcp).toEqual({ visibility: 'everyone' })
    await expect(connect('eve')).rejects.toThrow()
  })

  test('knows the front desk of that one, and what it says of participants', async () => {
    const { connect, write } = await differing()
    const ben = { kind: 'agent', capabilities: ['*'], description: 'reviews' }
    const payload = recordedBy({ participants: { ...participants, ben }, frontDesk: 'ben' })
    await write({ id: 'again', from: GATEWAY, kind: Kind.systemSpace, payload })
    const { welcome } = await connect('alice')
    expect(welcome.space.frontDesk).toBe('ben')
    expect(welcome.participants).toContainEqual(
      expect.objectContaining({ id: 'ben', description: 'reviews' }),
    )
  })

  test('goes on so when it takes over, until its operator configures it anew', async () => {
    const { connect, gateway, log, takeOver } = await differing()
    const records = async () =>
      (await log.read({ limit: 100, filter: { kinds: [Kind.systemSpace] } })).map(({ body }) =>
        JSON.parse(`${Buffer.from(body)}`),
      )
    takeOver()
    const alice = await connect('alice')
    await alice.accepted({ kind: 'chat', payload: { message: 'on we go' } })
    expect((await records()).filter(({ payload }) => payload.event === 'configured')).toHaveLength(1)
    expect(alice.welcome.mcp).toEqual({ visibility: 'everyone' })
    await gateway.reconfigure([testSpaceConfig(others)])
    expect((await connect('alice')).welcome.mcp).toEqual({ visibility: 'addressees' })
    expect((await records()).filter(({ payload }) => payload.event === 'configured')).toHaveLength(2)
  })

  test('follows what is recorded later, and is content where that is its own', async () => {
    const { connect, warned, write } = await differing()
    await write({
      id: 'again',
      from: GATEWAY,
      kind: Kind.systemSpace,
      payload: recordedBy({ ...others, limits: { contextDepth: 2 } }),
    })
    expect((await connect('eve')).welcome).toMatchObject({ mcp: others.mcp, limits: { contextDepth: 2 } })
    expect(warned().at(-1)).toMatchObject({ differs: ['limits'] })
    await write({ id: 'same', from: GATEWAY, kind: Kind.systemSpace, payload: recordedBy(others) })
    expect((await connect('eve')).welcome.limits.contextDepth).toBe(
      testSpaceConfig(others).limits.contextDepth,
    )
    expect(warned()).toHaveLength(2)
  })
})
