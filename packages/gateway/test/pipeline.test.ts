import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, type Client, ofKind, type Sent, said } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })

/** The envelopes that each client has received since the last call, up to a public chat of `by`. */
async function sinceLast(clients: readonly Client[], by: Client): Promise<string[][]> {
  const { id } = await by.accepted(chat('mark'))
  return Promise.all(clients.map(async (client) => said(await client.until(byId(id))).slice(0, -1)))
}

test('ids that the gateway creates sort by time', async () => {
  const clock = new FakeClock()
  const { connect, post, url } = await start({ participants, clock })
  for (const participant of ['alice', 'bob', 'carol']) {
    clock.advance(1000)
    await connect(participant)
    clock.advance(1000)
    expect((await post(participant, chat('hello'))).status).toBe(201)
  }
  const { envelopes } = await asking(url, 'alice').history()
  const ids = envelopes.filter(({ kind }) => kind !== 'system.space').map(({ id }) => id)
  expect(ids.length).toBe(6)
  expect(ids.toSorted()).toEqual(ids)
})

describe('an id that the log knows', () => {
  test('with the same content: the original again, to the retrier alone', async () => {
    const { connect } = await start({ participants })
    const [alice, other, bob] = [await connect('alice'), await connect('alice'), await connect('bob')]
    const sent = { id: 'once', ...chat('hello'), correlationId: 'x' }
    const original = await alice.accepted(sent)
    await Promise.all([other, bob].map((client) => client.next(byId('once'))))

    const spellings = [
      sent,
      { payload: { message: 'hello' }, correlation_id: 'x', kind: 'chat', id: 'once' },
      { ...sent, protocol: 'meup/v0.3', ts: '1999-12-31T23:59:59.999Z', from: 'alice' },
    ]
    for (const again of spellings) expect(await alice.accepted(again)).toEqual(original)
    expect(await sinceLast([other, bob], alice)).toEqual([[], []])
    expect((await alice.accepted(chat('next'))).seq).toBe(original.seq + 2)
  })

  test('from another connection of its sender: the original again, there', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const original = await alice.accepted({ id: 'once', ...chat('hello') })
    await bob.next(byId('once'))
    const later = await connect('alice')
    expect(await later.accepted({ id: 'once', ...chat('hello') })).toEqual(original)
    expect(await sinceLast([alice, bob], later)).toEqual([[], []])
  })

  test('with other content, or from somebody else: duplicate_id', async () => {
    const { connect } = await start({ participants })
    const [alice, bob, carol] = [await connect('alice'), await connect('bob'), await connect('carol')]
    const sent = { id: 'once', ...chat('hello') }
    await alice.accepted(sent)
    const duplicate = { code: 'duplicate_id', details: { path: '/id' } }
    for (const other of [
      { ...sent, payload: { message: 'Hello' } },
      { ...sent, to: ['bob'] },
      { ...sent, context: 'elsewhere' },
      { ...sent, kind: 'x.y' },
    ]) {
      expect(await alice.refused(other)).toMatchObject(duplicate)
    }
    alice.send('{"id":"once","kind":"chat","payload":{"message":"h\\u0065llo"}}')
    expect(await alice.next(ofKind('system.error'))).toMatchObject({ payload: duplicate })
    expect(await bob.refused(sent)).toMatchObject(duplicate)
    expect(await sinceLast([carol], alice)).toEqual([['once']])
  })

  test('still on its way: the retry waits, another content is refused, the log has it once', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const sent = { id: 'once', ...chat('hello') }
    alice.send(sent)
    alice.send(sent)
    alice.send({ ...sent, payload: { message: 'bye' } })
    await alice.next(ofKind('system.error'))
    const { seq } = await alice.accepted(chat('mark'))
    const own = alice.frames.filter(byId('once'))
    expect(own.length).toBeGreaterThan(0)
    expect(new Set(own.map((frame) => frame.seq))).toEqual(new Set([seq - 1]))
    expect(await sinceLast([bob], alice)).toEqual([['once', expect.anything()]])
  })

  verifies(
    'M17',
    'a second start with the id of a context is refused, and the first stays intact',
    async () => {
      const { connect } = await start({ participants })
      const [alice, bob] = [await connect('alice'), await connect('bob')]
      const begun = await alice.accepted({ id: 'run', kind: 'reasoning.start', payload: { message: 'mine' } })
      for (const [who, sent] of [
        [bob, { id: 'run', kind: 'reasoning.start', payload: { message: 'mine' } }],
        [bob, { id: 'run', kind: 'reasoning.start' }],
        [alice, { id: 'run', kind: 'reasoning.start', payload: { message: 'another' } }],
        [alice, { id: 'run', kind: 'reasoning.start', context: 'run' }],
        [bob, { id: 'run', ...chat('not even a start') }],
      ] as const) {
        expect(await who.refused(sent)).toMatchObject({ code: 'duplicate_id' })
      }
      const { welcome } = await connect('carol')
      expect(welcome.contexts).toEqual([
        { context: 'run', owner: 'alice', state: 'open', reasoningVisible: true, startedAt: begun.ts },
      ])
    },
  )
})

describe('the order of the checks', () => {
  test('a retry is answered before capabilities are looked at, a duplicate too', async () => {
    const { connect } = await start({ participants: { alice: ['chat'], bob: ['mcp.*'] } })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await alice.accepted({ id: 'once', ...chat('hello') })
    expect(await bob.refused({ id: 'once', ...chat('hello') })).toMatchObject({ code: 'duplicate_id' })
  })

  test('who sends is settled before what it is', async () => {
    const { connect } = await start({ participants })
    const alice = await connect('alice')
    const forged = { kind: 'system.welcome', from: 'bob', context: '//', to: ['nobody'] }
    expect(await alice.refused(forged)).toMatchObject({ code: 'sender_mismatch' })
    const { from: _, ...system } = forged
    expect(await alice.refused(system)).toMatchObject({ code: 'reserved_kind' })
  })

  test('what it is is settled before who may send it', async () => {
    const { connect } = await start({ participants: { alice: ['chat'], bob: ['chat'] } })
    const alice = await connect('alice')
    for (const [sent, code] of [
      [{ kind: 'mcp.nonsense' }, 'unknown_kind'],
      [{ kind: 'mcp.request', to: ['nobody'], payload: { method: 'x' } }, 'participant_not_found'],
      [{ kind: 'mcp.request', to: ['bob'], payload: {} }, 'invalid_payload'],
      [{ kind: 'space.kick', payload: { participantId: 7 } }, 'invalid_payload'],
      [{ kind: 'mcp.request', to: ['bob'], payload: { method: 'x' } }, 'capability_violation'],
    ] as const) {
      expect(await alice.refused(sent)).toMatchObject({ code })
    }
  })

  test('what is admitted counts at once, before it is committed', async () => {
    const { connect } = await start({ participants })
    const alice = await connect('alice')
    alice.send({ id: 'run', kind: 'reasoning.start' })
    alice.send({ id: 'inner', kind: 'reasoning.start', context: 'run' })
    alice.send({ id: 'ask', kind: 'mcp.request', to: ['alice'], payload: { method: 'ping' } })
    alice.send({ id: 'say', kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
    alice.send({ id: 'say2', kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
    const error = await alice.next(ofKind('system.error'))
    expect(error).toMatchObject({ correlationId: 'say2', payload: { code: 'forbidden' } })
    const { welcome } = await connect('bob')
    expect(welcome.contexts.map(({ context }) => context)).toEqual(['run', 'run/inner'])
  })
})

describe('capabilities', () => {
  const kinds = ['start', 'thought', 'conclusion', 'cancel', 'hypothesis'].map((name) => `reasoning.${name}`)

  /** The kinds that a holder of this capability may send. Also checks that refused ones reach no one. */
  async function mayBeSent(capability: string): Promise<string[]> {
    const { connect } = await start({ participants: { agent: [capability], bob: ['chat'] } })
    const [agent, bob] = [await connect('agent'), await connect('bob')]
    const allowed: string[] = []
    for (const kind of [...kinds, 'chat', 'mcp.request']) {
      const id = `id-${kind.replace('.', '-')}`
      const payload = kind === 'chat' ? { message: 'x' } : kind === 'mcp.request' ? { method: 'x' } : {}
      agent.send({ id, kind, ...(kind.startsWith('reasoning.') && { context: 'c' }), payload })
      const answer = await agent.next((frame) => frame.id === id || frame.correlationId === id)
      if (answer.kind === kind) allowed.push(kind)
      else expect(answer.payload).toMatchObject({ code: 'capability_violation', capabilities: [capability] })
    }
    await bob.accepted(chat('mark'))
    const heard = bob.frames.filter(({ from }) => from === 'agent').map(({ kind }) => kind)
    expect(heard).toEqual(allowed)
    return allowed
  }

  verifies('M23', 'reasoning/* may emit any reasoning message', async () => {
    expect(await mayBeSent('reasoning/*')).toEqual(kinds)
    expect(await mayBeSent('reasoning.*')).toEqual(kinds)
  })
  verifies('M24', 'reasoning/start may only start', async () => {
    expect(await mayBeSent('reasoning/start')).toEqual(['reasoning.start'])
  })
  verifies('M25', 'reasoning/step may only add steps, not start or end', async () => {
    expect(await mayBeSent('reasoning/step')).toEqual(['reasoning.thought'])
  })
  test('without a capability nothing may be sent', async () => {
    expect(await mayBeSent('x.y')).toEqual([])
  })

  verifies(
    'M22',
    'reasoning needs a capability, and reaches everybody, or whom it is addressed to',
    async () => {
      const { connect } = await start({
        participants: { agent: ['reasoning.*'], mute: ['chat'], ...participants },
      })
      const [agent, mute, bob, carol] = [
        await connect('agent'),
        await connect('mute'),
        await connect('bob'),
        await connect('carol'),
      ]
      const thought = { kind: 'reasoning.thought', context: 'c', payload: { message: 'hm' } }
      expect(await mute.refused(thought)).toMatchObject({ code: 'capability_violation' })
      await agent.accepted({ id: 'open', ...thought })
      await agent.accepted({ id: 'aside', ...thought, to: ['bob'] })
      expect(await sinceLast([bob, carol], mute)).toEqual([['open', 'aside'], ['open']])
    },
  )

  test('are compared with the payload and the addressees', async () => {
    const may = {
      kind: 'mcp.request',
      to: 'bob',
      payload: { method: 'tools/call', params: { name: 'read_*' } },
    }
    const { connect } = await start({ participants: { agent: [may], bob: [], carol: [] } })
    const agent = await connect('agent')
    const call = (name: string, to?: string[]): Sent => ({
      kind: 'mcp.request',
      ...(to && { to }),
      payload: { method: 'tools/call', params: { name } },
    })
    await agent.accepted(call('read_file', ['bob']))
    const refused = [call('write_file', ['bob']), call('read_file', ['bob', 'carol']), call('read_file')]
    for (const sent of refused)
      expect(await agent.refused(sent)).toMatchObject({ code: 'capability_violation' })
  })
})

describe('an mcp.response', () => {
  const request = (id: string, to?: string[]): Sent => ({
    id,
    kind: 'mcp.request',
    ...(to && { to }),
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  })
  const response = (correlationId: string | string[]): Sent => ({
    kind: 'mcp.response',
    correlationId,
    payload: { jsonrpc: '2.0', id: 1, result: {} },
  })

  test('comes from an addressee, once', async () => {
    const { connect } = await start({ participants })
    const [alice, bob, carol] = [await connect('alice'), await connect('bob'), await connect('carol')]
    await alice.accepted(request('one', ['bob']))
    for (const who of [carol, alice])
      expect(await who.refused(response('one'))).toMatchObject({ code: 'forbidden' })
    await bob.accepted(response('one'))
    expect(await bob.refused(response('one'))).toMatchObject({ code: 'forbidden' })
    expect(await bob.refused(response(['one']))).toMatchObject({ code: 'forbidden' })
  })

  test('to a request without addressees comes from anyone, once each', async () => {
    const { connect } = await start({ participants })
    const [alice, bob, carol] = [await connect('alice'), await connect('bob'), await connect('carol')]
    await alice.accepted(request('all'))
    for (const who of [bob, carol]) {
      await who.accepted(response('all'))
      expect(await who.refused(response('all'))).toMatchObject({ code: 'forbidden' })
    }
  })

  test('needs a capability only where nobody was asked by name', async () => {
    const { connect } = await start({ participants: { alice: ['*'], tool: [], other: ['mcp.response'] } })
    const [alice, tool, other] = [await connect('alice'), await connect('tool'), await connect('other')]
    await alice.accepted(request('one', ['tool']))
    await alice.accepted(request('two', ['other', 'tool']))
    await alice.accepted(request('all'))
    for (const id of ['all', ['one', 'all'], 'never']) {
      expect(await tool.refused(response(id))).toMatchObject({ code: 'capability_violation' })
    }
    for (const id of ['one', 'two']) await tool.accepted(response(id))
    expect(await tool.refused(response('one'))).toMatchObject({ code: 'forbidden' })
    await other.accepted(response('all'))
  })

  test('answers requests alone, all that it names', async () => {
    const { connect } = await start({ participants })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    await alice.accepted({ id: 'no-request', ...chat('hello') })
    await alice.accepted({
      id: 'note',
      kind: 'mcp.request',
      to: ['bob'],
      payload: { method: 'notifications/x' },
    })
    await alice.accepted(request('one', ['bob']))
    for (const id of ['no-request', 'note', ['one', 'never']]) {
      expect(await bob.refused(response(id))).toMatchObject({
        code: 'not_found',
        details: { path: '/correlationId' },
      })
    }
    await bob.accepted(response('one'))
  })
})
