import { sqliteStore } from '@meup/gateway'
import { describe, expect, test } from 'vitest'
import { byId, ofKind, presence, range, type Sent, said, seqs } from './client.js'
import { type StartOptions, start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['chat'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })

/** A gateway that can be restarted on one log file. */
async function restartable(options: Partial<StartOptions> = {}) {
  const path = temporaryFile('log.db')
  const open = async (changed: Partial<StartOptions> = {}) =>
    start({ participants, ...options, ...changed, store: await sqliteStore({ path }) })
  let running = await open()
  return {
    running,
    async restart(changed: Partial<StartOptions> = {}) {
      await running.close()
      running = await open(changed)
      return running
    },
  }
}

describe('a restart', () => {
  test('keeps every envelope, byte for byte, and goes on counting', async () => {
    const { running, restart } = await restartable()
    const [alice, bob] = [await running.connect('alice', { query: 'after=0' }), await running.connect('bob')]
    alice.send(
      '{"id":"odd","kind":"chat","payload":{ "message":"\\u00e9😀", "n":1.50, "b":90071992547409931 }}',
    )
    await alice.accepted({ ...chat('psst'), to: ['bob'], correlationId: ['odd'] })
    await bob.accepted({ id: 'last', kind: 'reasoning.start', payload: { message: 'hm' } })
    await alice.next(byId('last'))
    const before = alice.frames.slice(1).map((frame) => alice.texts.get(frame))

    const { connect } = await restart()
    const again = await connect('alice', { query: 'after=0' })
    const { welcome } = again
    expect(welcome.space.epoch).toBe(alice.welcome.space.epoch)
    const { seq } = await again.accepted(chat('mark'))
    const logged = again.frames.slice(1)
    expect(seqs(logged)).toEqual(range(1, seq))
    expect(logged.slice(0, before.length).map((frame) => again.texts.get(frame))).toEqual(before)
    expect(said(logged.slice(before.length))).toHaveLength(1)
  })

  test('changes nothing of the state: contexts, participants, requests', async () => {
    const { running, restart } = await restartable()
    const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
    await alice.accepted({ id: 'run', kind: 'reasoning.start' })
    await bob.accepted({ id: 'inner', kind: 'reasoning.start', context: 'run' })
    await alice.accepted({ id: 'over', kind: 'reasoning.start' })
    await alice.accepted({ kind: 'reasoning.conclusion', context: 'over' })
    const request = { kind: 'mcp.request', to: ['bob', 'alice'], payload: { method: 'tools/list' } }
    await alice.accepted({ id: 'open', ...request })
    await alice.accepted({ id: 'half', ...request })
    const respond = (correlationId: string) => ({
      kind: 'mcp.response',
      correlationId,
      payload: { result: {} },
    })
    await bob.accepted(respond('half'))
    const received = (await running.connect('carol')).welcome

    const { connect } = await restart()
    const [alice2, bob2] = [await connect('alice'), await connect('bob')]
    const { welcome } = await connect('carol')
    expect(welcome.contexts).toEqual(received.contexts)
    expect(welcome.contexts).toHaveLength(2)
    expect(welcome.participants).toEqual(received.participants)
    expect(await bob2.refused({ kind: 'reasoning.conclusion', context: 'run' })).toMatchObject({
      code: 'forbidden',
    })
    await bob2.accepted(respond('open'))
    for (const id of ['open', 'half'])
      expect(await bob2.refused(respond(id))).toMatchObject({ code: 'forbidden' })
    await alice2.accepted(respond('half'))
    await alice2.accepted({ kind: 'reasoning.conclusion', context: 'run' })
    expect((await connect('carol')).welcome.contexts).toEqual([])
  })

  test('knows the ids: a retry is answered, a duplicate refused', async () => {
    const { running, restart } = await restartable()
    const alice = await running.connect('alice')
    const sent = { id: 'once', ...chat('hello'), correlationId: 'x' }
    const { seq, ts } = await alice.accepted(sent)

    const { connect } = await restart({ participants: { ...participants, alice: ['x.y'] } })
    const [again, bob] = [await connect('alice'), await connect('bob')]
    expect(await again.accepted(sent)).toMatchObject({ seq, ts, payload: { message: 'hello' } })
    const other = { ...sent, payload: { message: 'bye' } }
    for (const [who, what] of [
      [again, other],
      [bob, sent],
    ] as const) {
      expect(await who.refused(what)).toMatchObject({ code: 'duplicate_id' })
    }
    expect(await again.refused(chat('new'))).toMatchObject({ code: 'capability_violation' })
    const mark = await bob.accepted(chat('mark'))
    expect(said(await again.until(byId(mark.id)))).toEqual([mark.id])
  })

  test('lets a client go on where it stopped', async () => {
    const { running, restart } = await restartable()
    const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
    const { seq } = await alice.accepted(chat('before'))
    await bob.next(byId(alice.frames.at(-1)?.id))

    const { connect } = await restart()
    const alice2 = await connect('alice')
    const sent = await alice2.accepted(chat('after'))
    const again = await connect('bob', { query: `after=${seq}&epoch=${bob.welcome.space.epoch}` })
    expect(again.welcome.resume).toMatchObject({ status: 'replaying', from: seq + 1 })
    const missed = await again.until(byId(sent.id))
    expect(seqs(missed)).toEqual(range(seq + 1, sent.seq))
    expect(missed.filter(presence('leave', 'bob'))).toHaveLength(1)
  })
})

describe('what the operator configured', () => {
  const configured = async ({ connect }: Awaited<ReturnType<typeof start>>) => {
    const reader = await connect('bob', { query: 'after=0' })
    await reader.accepted(chat('mark'))
    return reader.frames.filter(
      ({ kind, payload }) => kind === 'system.space' && payload.event === 'configured',
    )
  }

  test('is logged once as long as nothing changes', async () => {
    const guest = { capabilities: ['chat'] }
    const { running, restart } = await restartable({ guest })
    const [first] = await configured(running)
    expect(first).toMatchObject({ seq: 2 })
    expect(first?.payload).toEqual({
      event: 'configured',
      participants: {
        alice: { kind: 'agent', capabilities: ['*'], programs: 'one' },
        bob: { kind: 'agent', capabilities: ['*'], programs: 'one' },
        carol: { kind: 'agent', capabilities: ['chat'], programs: 'one' },
      },
      defaults: { capabilities: [], programs: 'many' },
      guest,
      limits: expect.objectContaining({ contextDepth: 5 }),
      reasoning: { collaborative: true, abandonAfterMs: 60_000 },
      redaction: expect.stringMatching(/^[0-9a-f]{64}$/),
      mcp: { visibility: 'everyone' },
      retention: { days: 0 },
    })
    expect(JSON.stringify(first)).not.toContain('token')
    expect(await configured(await restart())).toEqual([first])
    expect(await configured(await restart())).toEqual([first])
  })

  test('is logged again when it changes, and counts from then on', async () => {
    const { running, restart } = await restartable()
    const alice = await running.connect('alice')
    await alice.accepted({ ...chat('hello'), to: ['carol'] })
    const changed = { alice: ['chat'], bob: ['*'], dave: ['chat'] }
    const after = await restart({ participants: changed })
    const records = await configured(after)
    expect(records.map(({ payload }) => Object.keys(payload.participants as object))).toEqual([
      ['alice', 'bob', 'carol'],
      ['alice', 'bob', 'dave'],
    ])
    const again = await after.connect('alice')
    expect(again.welcome.participants.map(({ id }) => id)).toEqual(['alice', 'bob', 'dave'])
    expect(await again.refused({ kind: 'x.y' })).toMatchObject({ code: 'capability_violation' })
    expect(await again.refused({ ...chat('hello'), to: ['carol'] })).toMatchObject({
      code: 'participant_not_found',
    })
    await again.accepted({ ...chat('hello'), to: ['dave'] })
    expect(await after.connectRequest({ token: 'token-of-carol' })).toMatchObject({ status: 401 })
    expect(await configured(await restart({ participants: changed }))).toHaveLength(2)
    expect(await configured(await restart())).toHaveLength(3)
  })

  test('opens each space once, under an epoch of its own', async () => {
    const others = [{ name: 'other', participants }]
    const { running, restart } = await restartable({ others })
    const opened = async (connect: typeof running.connect, space: string) => {
      const reader = await connect('bob', { space, query: 'after=0' })
      await reader.accepted(chat('mark'))
      return reader.frames.filter(ofKind('system.space')).filter(({ payload }) => payload.event === 'opened')
    }
    const [here] = await opened(running.connect, 'test')
    const [there] = await opened(running.connect, 'other')
    expect([here?.payload.space, there?.payload.space]).toEqual(['test', 'other'])
    expect(here?.payload.epoch).not.toBe(there?.payload.epoch)
    const { connect } = await restart()
    expect(await opened(connect, 'other')).toEqual([there])
  })
})
