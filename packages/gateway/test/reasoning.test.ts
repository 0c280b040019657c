import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { type Envelope, GATEWAY } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, type Client, ofKind, presence, type Sent, said } from './client.js'
import { type Running, start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })
const begin = (id: string, context?: string): Sent => ({
  id,
  kind: 'reasoning.start',
  ...(context && { context }),
})
const thought = (context: string): Sent => ({
  kind: 'reasoning.thought',
  context,
  payload: { message: 'hm' },
})
const conclude = (context: string): Sent => ({ kind: 'reasoning.conclusion', context })
const cancel = (context: string): Sent => ({
  kind: 'reasoning.cancel',
  context,
  payload: { reason: 'enough' },
})

/** Open contexts with their owners, from a welcome. */
async function openContexts({ connect }: Running): Promise<string[]> {
  const { welcome } = await connect('carol')
  return welcome.contexts.map(({ context, owner, state }) => `${context} ${owner} ${state}`)
}

async function aliceAndBob(options: { collaborative?: boolean } = {}) {
  const running = await start({ participants, reasoning: options })
  return { ...running, running, alice: await running.connect('alice'), bob: await running.connect('bob') }
}

describe('a context', () => {
  test('is opened by a start, named by its id, and owned by its sender', async () => {
    const { alice, bob, connect } = await aliceAndBob()
    const run = await alice.accepted(begin('run'))
    const inner = await bob.accepted(begin('inner', 'run'))
    const { welcome } = await connect('carol')
    expect(welcome.contexts).toEqual([
      { context: 'run', owner: 'alice', state: 'open', reasoningVisible: true, startedAt: run.ts },
      { context: 'run/inner', owner: 'bob', state: 'open', reasoningVisible: true, startedAt: inner.ts },
    ])
  })

  test('is concluded by its starter alone, not even by the owner of the run', async () => {
    const { alice, bob, running } = await aliceAndBob()
    await alice.accepted(begin('run'))
    await bob.accepted(begin('inner', 'run'))
    expect(await bob.refused(conclude('run'))).toMatchObject({ code: 'forbidden' })
    expect(await alice.refused(conclude('run/inner'))).toMatchObject({ code: 'forbidden' })
    expect(await openContexts(running)).toEqual(['run alice open', 'run/inner bob open'])
    const mark = await bob.accepted(chat('mark'))
    expect((await alice.until(byId(mark.id))).filter(ofKind('reasoning.conclusion'))).toEqual([])
  })

  test('is not closed by another’s cancel: that is relayed as a request', async () => {
    const { alice, bob, running } = await aliceAndBob()
    await alice.accepted(begin('run'))
    await bob.accepted(begin('inner', 'run'))
    const asked = await bob.accepted(cancel('run'))
    expect(await alice.next(byId(asked.id))).toMatchObject({ from: 'bob', payload: { reason: 'enough' } })
    await alice.accepted(cancel('run/inner'))
    expect(await openContexts(running)).toEqual(['run alice open', 'run/inner bob open'])
  })

  test('that is over still takes what comes late, and stays over', async () => {
    const { alice, bob, running } = await aliceAndBob()
    await alice.accepted(begin('run'))
    await alice.accepted(conclude('run'))
    const late = [thought('run'), { ...chat('p.s.'), context: 'run' }, cancel('run'), conclude('run')]
    for (const sent of late) {
      const { id } = await alice.accepted(sent)
      expect(await bob.next(byId(id))).toMatchObject({ context: 'run' })
    }
    await bob.accepted(thought('run'))
    expect(await openContexts(running)).toEqual([])
  })

  verifies('M28', 'of regular kinds alone is a group of envelopes, without start or end', async () => {
    const { alice, bob, running } = await aliceAndBob()
    const flow: Sent[] = [
      { id: 'plain', ...chat("I'll analyze this") },
      { id: 'check', ...chat('Checking permissions...'), context: 'reason-123' },
      { id: 'call', kind: 'mcp.request', context: 'reason-123', payload: { method: 'tools/call' } },
      { id: 'good', ...chat('Permissions look good'), context: 'reason-123' },
      { id: 'sub', ...chat('a level down'), context: 'reason-123/security/perms' },
    ]
    for (const sent of flow) await alice.accepted(sent)
    const received = await bob.until(byId('sub'))
    const inContext = (path: string) => said(received.filter(({ context }) => context === path))
    expect(said(received)).toEqual(['plain', 'check', 'call', 'good', 'sub'])
    expect(inContext('reason-123')).toEqual(['check', 'call', 'good'])
    expect(inContext('reason-123/security/perms')).toEqual(['sub'])
    expect(await openContexts(running)).toEqual([])
    await bob.subscribe({ excludeContexts: ['reason-123'] })
    await alice.accepted({ ...chat('more'), context: 'reason-123' })
    const { id } = await alice.accepted(chat('plain again'))
    expect(said(await bob.until(byId(id)))).toEqual([id])
  })
})

describe('thinking along', () => {
  test('is free to all where the space does not say otherwise', async () => {
    const { alice, bob } = await aliceAndBob()
    await alice.accepted(begin('run'))
    for (const sent of [thought('run'), begin('inner', 'run'), thought('run/inner'), thought('free')]) {
      await bob.accepted(sent)
    }
  })

  test('is the owner’s alone where it does', async () => {
    const { alice, bob, running } = await aliceAndBob({ collaborative: false })
    await alice.accepted(begin('run'))
    await alice.accepted(begin('inner', 'run'))
    const refused = [
      thought('run'),
      thought('run/inner'),
      thought('run/free'),
      begin('mine', 'run'),
      conclude('run'),
      { kind: 'reasoning.guess', context: 'run' },
    ]
    for (const sent of refused) expect(await bob.refused(sent)).toMatchObject({ code: 'forbidden' })
    const allowed = [
      cancel('run'),
      { ...chat('why?'), context: 'run' },
      { kind: 'mcp.request', context: 'run/inner', payload: { method: 'x' } },
      thought('free'),
      begin('own'),
      thought('own'),
    ]
    for (const sent of allowed) await bob.accepted(sent)
    await alice.accepted(thought('run/inner'))
    expect(await openContexts(running)).toEqual(['run alice open', 'run/inner alice open', 'own bob open'])
  })
})

describe('an owner that is away', () => {
  const abandonAfterMs = 60_000
  const isAbandoned = ({ kind, from, payload }: Envelope) =>
    kind === 'reasoning.cancel' && from === GATEWAY && payload.reason === 'abandoned'

  async function withClock() {
    const clock = new FakeClock()
    const spaces = new Map()
    const open = () =>
      start({ participants, clock, store: memoryStore(spaces), reasoning: { abandonAfterMs } })
    const running = await open()
    return { clock, running, open, alice: await running.connect('alice'), bob: await running.connect('bob') }
  }

  /** The contexts that the gateway has cancelled, up to a chat that is sent now. */
  async function abandoned(reader: Client): Promise<(string | undefined)[]> {
    await reader.accepted(chat('mark'))
    return reader.frames.filter(isAbandoned).map(({ context }) => context)
  }

  test('leaves its contexts abandoned after a while, and not before', async () => {
    const { clock, running, alice, bob } = await withClock()
    const second = await running.connect('alice')
    await alice.accepted(begin('run'))
    await alice.accepted(begin('inner', 'run'))
    await bob.accepted(begin('own'))
    await bob.accepted(begin('theirs', 'run'))
    await alice.close()
    clock.advance(abandonAfterMs)
    expect(await abandoned(bob)).toEqual([])
    await second.close()
    await bob.next(presence('leave', 'alice'))
    clock.advance(abandonAfterMs - 1)
    expect(await abandoned(bob)).toEqual([])
    clock.advance(1)
    expect(await abandoned(bob)).toEqual(['run'])
    expect(await openContexts(running)).toEqual(['own bob open'])
  })

  test('that comes back in time finds them open', async () => {
    const { clock, running, alice, bob } = await withClock()
    await alice.accepted(begin('run'))
    await alice.close()
    await bob.next(presence('leave', 'alice'))
    clock.advance(abandonAfterMs - 1)
    const again = await running.connect('alice')
    clock.advance(2 * abandonAfterMs)
    expect(await abandoned(bob)).toEqual([])
    await again.accepted(conclude('run'))
  })

  test('of a nested context leaves the run of another open', async () => {
    const { clock, running, alice, bob } = await withClock()
    await bob.accepted(begin('run'))
    await alice.accepted(begin('inner', 'run'))
    await alice.close()
    await bob.next(presence('leave', 'alice'))
    clock.advance(abandonAfterMs)
    expect(await abandoned(bob)).toEqual(['run/inner'])
    expect(await openContexts(running)).toEqual(['run bob open'])
  })

  test('has as long again after a restart', async () => {
    const { clock, running, open, alice, bob } = await withClock()
    await alice.accepted(begin('gone'))
    await bob.accepted(begin('back'))
    await alice.close()
    await bob.next(presence('leave', 'alice'))
    clock.advance(abandonAfterMs - 1)
    await running.close()
    const restarted = await open()
    const returned = await restarted.connect('bob')
    expect(returned.welcome.contexts.map(({ context }) => context)).toEqual(['gone', 'back'])
    clock.advance(abandonAfterMs - 1)
    expect(await abandoned(returned)).toEqual([])
    clock.advance(1)
    expect(await abandoned(returned)).toEqual(['gone'])
    expect(await openContexts(restarted)).toEqual(['back bob open'])
  })
})
