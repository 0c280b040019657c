import { memoryStore } from '@meup/gateway'
import { testSpaceConfig } from '@meup/gateway/testing'
import { checkPayload, GATEWAY, PROTOCOL } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { SpaceState } from '../src/core/state/state.js'
import { byId, type Client, ofKind, presence, type Sent, said } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['chat'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })

/** The joins and leaves that a client has received. */
const seen = (client: Client): string[] =>
  client.frames
    .filter(ofKind('system.presence'))
    .map(({ payload }) => `${payload.event} ${(payload.participant as { id: string }).id}`)

describe('presence', () => {
  test('says join at the first connection and leave after the last', async () => {
    const { connect } = await start({ participants })
    const bob = await connect('bob')
    const [first, second, third] = [await connect('carol'), await connect('carol'), await connect('carol')]
    await first.close()
    third.ws.terminate()
    await bob.accepted(chat('mark'))
    expect(seen(bob)).toEqual(['join bob', 'join carol'])
    await second.close()
    await bob.next(presence('leave', 'carol'))
    await connect('carol')
    await bob.next(presence('join', 'carol'))
    expect(seen(bob)).toEqual(['join bob', 'join carol', 'leave carol', 'join carol'])
  })

  test('is logged, by the gateway, for everyone to read', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const join = await alice.next(presence('join', 'bob'))
    expect(join).toMatchObject({
      seq: 4,
      from: GATEWAY,
      payload: { event: 'join', participant: { id: 'bob', capabilities: ['*'], status: 'present' } },
    })
    expect(join).not.toHaveProperty('to')
    await bob.close()
    const leave = await alice.next(presence('leave', 'bob'))
    expect(leave).toMatchObject({ seq: 5, payload: { participant: { id: 'bob', status: 'away' } } })
    const carol = await connect('carol', { query: 'after=0' })
    expect(await carol.next(byId(join.id))).toEqual(join)
    expect(await carol.next(byId(leave.id))).toEqual(leave)
  })

  test('is not needed to be addressed, but to be known is', async () => {
    const { connect, dial } = await start({ participants, guest: { capabilities: ['chat'] } })
    const [alice, guest] = [await connect('alice'), await dial({})]
    await alice.accepted({ ...chat('later'), to: ['carol', guest.participant] })
    const carol = await connect('carol', { query: 'after=0' })
    const { id } = await alice.accepted(chat('mark'))
    expect(said(await carol.until(byId(id)))).toHaveLength(2)
    await guest.close()
    await alice.next(presence('leave', guest.participant))
    for (const nobody of [guest.participant, 'guest-nobody']) {
      const refused = await alice.refused({ ...chat('x'), to: [nobody] })
      expect(refused).toMatchObject({ code: 'participant_not_found' })
    }
  })

  test('of a socket that never opened is nothing', async () => {
    const { connect, connectRequest } = await start({ participants })
    const bob = await connect('bob')
    await connectRequest({ token: 'wrong' })
    await connectRequest({ headers: { origin: 'https://evil.example' } })
    await bob.accepted(chat('mark'))
    expect(seen(bob)).toEqual(['join bob'])
  })
})

describe('whom a crash cut off', () => {
  type Spaces = NonNullable<Parameters<typeof memoryStore>[0]>

  /** A copy of the store at the time of the crash; the gateway on the original keeps running. */
  const copyOf = (spaces: Spaces): Spaces =>
    new Map(
      [...spaces].map(([name, space]) => [
        name,
        { ...space, rows: [...space.rows], ids: new Map(space.ids) },
      ]),
    )

  test('is recorded as gone at the next start, once', async () => {
    const spaces: Spaces = new Map()
    const before = await start({ participants, store: memoryStore(spaces) })
    const [alice, bob] = [await before.connect('alice'), await before.connect('bob')]
    await before.connect('alice')
    await alice.close()
    await bob.accepted(chat('last words'))
    const disk = copyOf(spaces)

    const after = await start({ participants, store: memoryStore(disk) })
    const carol = await after.connect('carol', { query: 'after=0' })
    expect(carol.welcome.participants.map(({ id, status }) => [id, status])).toEqual([
      ['alice', 'away'],
      ['bob', 'away'],
      ['carol', 'present'],
    ])
    await carol.accepted(chat('mark'))
    expect(seen(carol)).toEqual(['join alice', 'join bob', 'leave alice', 'leave bob', 'join carol'])

    await after.close()
    const again = await start({ participants, store: memoryStore(disk) })
    const later = await again.connect('bob', { query: 'after=0' })
    await later.accepted(chat('mark'))
    expect(seen(later).slice(5)).toEqual(['leave carol', 'join bob'])
  })

  test('and whom the operator has removed meanwhile is unknown afterwards', async () => {
    const spaces: Spaces = new Map()
    const before = await start({ participants, store: memoryStore(spaces) })
    await before.connect('carol')
    const bob = await before.connect('bob')
    await bob.accepted(chat('last words'))

    const { carol: _, ...rest } = participants
    const after = await start({ participants: rest, store: memoryStore(copyOf(spaces)) })
    const alice = await after.connect('alice')
    expect(alice.welcome.participants.map(({ id }) => id)).toEqual(['alice', 'bob'])
    expect(await alice.refused({ ...chat('hello?'), to: ['carol'] })).toMatchObject({
      code: 'participant_not_found',
    })
  })
})

describe('the program of a participant', () => {
  const program = (id: string, said: unknown) => ({
    kind: 'system.presence',
    from: GATEWAY,
    payload: { event: 'update', participant: { id }, program: said },
  })
  const programs = ({ frames }: Client) =>
    frames
      .filter(ofKind('system.presence'))
      .flatMap(({ payload }) => (payload.program === undefined ? [] : [payload.program]))

  test('is logged as an update whenever it is doing otherwise, and is in the welcome', async () => {
    const { gateway, connect } = await start({ participants })
    const alice = await connect('alice')
    gateway.setProgram('test', 'bob', { state: 'starting' })
    gateway.setProgram('test', 'bob', { state: 'restarting', count: 1 })
    gateway.setProgram('test', 'bob', { state: 'restarting', count: 1 })
    gateway.setProgram('test', 'bob', { state: 'restarting', count: 2 })
    const last = await alice.next(
      ({ payload }) => (payload as { program?: { count?: number } }).program?.count === 2,
    )
    expect(last).toMatchObject(program('bob', { state: 'restarting', count: 2 }))
    expect(last).not.toHaveProperty('to')
    expect(programs(alice)).toEqual([
      { state: 'starting' },
      { state: 'restarting', count: 1 },
      { state: 'restarting', count: 2 },
    ])
    const { welcome } = await connect('carol')
    expect(welcome.participants).toMatchObject([{}, { program: { state: 'restarting', count: 2 } }, {}])
    expect(welcome.participants[0]).not.toHaveProperty('program')
    expect(checkPayload('system.welcome', welcome)).toBeUndefined()
    gateway.setProgram('test', 'bob', undefined)
    await alice.accepted(chat('mark'))
    expect(programs(alice).at(-1)).toBeNull()
    expect((await connect('carol')).welcome.participants[1]).not.toHaveProperty('program')
  })

  test('of somebody whom the space does not know is logged once it knows them', async () => {
    const { gateway, connect } = await start({ participants })
    const alice = await connect('alice')
    gateway.setProgram('test', 'dora', { state: 'starting' })
    gateway.setProgram('nowhere', 'bob', { state: 'starting' })
    await alice.accepted(chat('mark'))
    expect(programs(alice)).toEqual([])
    await gateway.reconfigure([testSpaceConfig({ participants: { ...participants, dora: ['chat'] } })])
    await alice.accepted(chat('mark'))
    expect(programs(alice)).toEqual([{ state: 'starting' }])
  })

  test('is no word of new capabilities, which are still to be told', () => {
    const state = new SpaceState()
    const apply = (kind: string, payload: Record<string, unknown>, from = GATEWAY): void => {
      const seq = state.seq + 1
      const ts = '2026-01-01T00:00:00.000Z'
      state.apply({ protocol: PROTOCOL, id: `e${seq}`, seq, ts, from, kind, payload }, new Uint8Array())
    }
    const configured = Object.fromEntries(
      Object.entries(participants).map(([id, capabilities]) => [id, { kind: 'agent', capabilities }]),
    )
    apply('system.space', {
      event: 'configured',
      participants: configured,
      mcp: { visibility: 'everyone' },
    })
    apply('capability.grant', { recipient: 'carol', capabilities: ['mcp.request'] }, 'alice')
    expect(state.trust.untold()).toEqual(['carol'])
    const update = { event: 'update', participant: { id: 'carol' } }
    apply('system.presence', { ...update, program: { state: 'starting' } })
    expect(state.trust.untold()).toEqual(['carol'])
    apply('system.presence', { ...update, participant: { id: 'carol', capabilities: [] } })
    expect(state.trust.untold()).toEqual([])
  })

  test('does not outlast the gateway that it was told', async () => {
    const spaces = new Map()
    const before = await start({ participants, store: memoryStore(spaces) })
    before.gateway.setProgram('test', 'bob', { state: 'resting', count: 10 })
    before.gateway.setProgram('test', 'carol', { state: 'running' })
    await before.close()
    const after = await start({ participants, store: memoryStore(spaces) })
    const alice = await after.connect('alice', { query: 'after=0' })
    expect(alice.welcome.participants.filter(({ program }) => program !== undefined)).toEqual([])
    await alice.accepted(chat('mark'))
    expect(programs(alice)).toEqual([{ state: 'resting', count: 10 }, { state: 'running' }, null, null])
  })

  test('is logged when the log can be written again, as it is doing then', async () => {
    const disk = faultyDisk(memoryStore())
    const { gateway, connect } = await start({ participants, store: disk.store })
    const alice = await connect('alice')
    const { appending, fail } = disk.stall()
    gateway.setProgram('test', 'bob', { state: 'starting' })
    await appending
    gateway.setProgram('test', 'bob', { state: 'failed', count: 1 })
    fail()
    await alice.next(({ payload }) => 'program' in payload)
    await alice.accepted(chat('mark'))
    expect(programs(alice)).toEqual([{ state: 'failed', count: 1 }])
  })
})
