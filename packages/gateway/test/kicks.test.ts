import { memoryStore } from '@meup/gateway'
import { FakeClock, testToken } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { SpaceState } from '../src/core/state/state.js'
import { byId, errorFor, ofKind, presence, type Sent } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { type StartOptions, start } from './support.js'
import { chat, kick, NoTimers, reconfigure } from './trust.js'

const participants = { root: ['*'], ann: ['*'], ben: ['chat'] }

async function open(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const [root, ann] = [await running.connect('root'), await running.connect('ann')]
  return { ...running, root, ann }
}

describe('a kick', () => {
  test('closes every connection of its participant with 4403 and the reason, and its token opens nothing', async () => {
    const { connect, connectRequest, post, url, root, ann } = await open()
    const second = await connect('ann')
    await root.accepted(kick('ann', { reason: 'spam, spam, spam' }))
    for (const client of [ann, second]) {
      expect(await client.closed).toEqual({ code: 4403, reason: 'kicked by root: spam, spam, spam' })
      expect(client.frames.some(ofKind('space.kick'))).toBe(true)
    }
    await root.next(presence('leave', 'ann'))
    const refusal = { status: 403, body: expect.objectContaining({ code: 'forbidden' }) }
    expect(await connectRequest({ token: testToken('ann') })).toMatchObject(refusal)
    expect(await post('ann', chat())).toMatchObject(refusal)
    const headers = { authorization: `Bearer ${testToken('ann')}` }
    const history = await fetch(`${url}/spaces/test/envelopes`, { headers })
    expect(history.status).toBe(403)
    expect(await history.text()).toMatch(/root has kicked you out \(spam/)
    await root.accepted({ ...chat('gone, but known'), to: ['ann'] })
  })

  test('ends its streams of events', async () => {
    const { url, root } = await open()
    const headers = { authorization: `Bearer ${testToken('ann')}` }
    const events = await fetch(`${url}/spaces/test/events`, { headers })
    await root.accepted(kick('ann'))
    expect(await events.text()).toContain('event: error\ndata: {"code":4403,"reason":"kicked by root"}')
  })

  test('counts before it is in the log: what is still on its way from there is refused', async () => {
    const disk = faultyDisk(memoryStore())
    const { post, root, ann } = await open({ store: disk.store })
    const { appending, goOn } = disk.stall()
    ann.send({ id: 'before', ...chat() })
    await appending
    root.send({ id: 'out', ...kick('ann') })
    await root.subscribe({})
    for (const id of ['a', 'b', 'c']) ann.send({ id, ...chat() })
    ann.send({ id: 'look', kind: 'observe.subscribe', payload: {} })
    for (const id of ['a', 'b', 'c', 'look']) {
      expect(await ann.next(errorFor(id))).toMatchObject({ payload: { code: 'forbidden' } })
    }
    expect((await post('ann', chat())).status).toBe(403)
    expect(ann.frames.some(byId('before'))).toBe(false)
    goOn()
    expect((await ann.closed).code).toBe(4403)
    await root.next(byId('out'))
    expect(root.frames.filter(({ from }) => from === 'ann').map(({ id }) => id)).toEqual(['before'])
  })

  test('of which the log knows nothing shuts nobody out', async () => {
    const disk = faultyDisk(memoryStore())
    const { gateway, root, ann } = await open({ store: disk.store })
    const { appending, fail } = disk.stall()
    root.send({ id: 'out', ...kick('ann') })
    await appending
    await reconfigure(gateway, { participants })
    fail()
    await root.next(errorFor('out'))
    await root.accepted(chat('it goes on'))
    await ann.accepted(chat('so do I'))
  })

  test('in a flood of messages lets none through that came later', async () => {
    const { root, ann } = await open()
    for (let count = 0; count < 300; count++) ann.send(chat(`${count}`))
    const { seq } = await root.accepted(kick('ann'))
    await ann.closed
    const mark = await root.accepted(chat('mark'))
    const late = root.frames.filter((frame) => frame.from === 'ann' && (frame.seq ?? 0) > seq)
    expect(late).toEqual([])
    expect(root.frames.at(-1)?.id).toBe(mark.id)
  })

  test('lasts until it says', async () => {
    const clock = new FakeClock()
    const { connect, connectRequest, root, ann } = await open({ clock })
    const untilTs = new Date(clock.now() + 60_000).toISOString()
    await root.accepted(kick('ann', { untilTs }))
    await ann.closed
    clock.advance(59_999)
    const { status, body } = await connectRequest({ token: testToken('ann') })
    expect([status, body.detail]).toEqual([403, expect.stringContaining(untilTs)])
    clock.advance(1)
    await (await connect('ann')).accepted(chat())
  })

  test('ends at its time, whatever timers do', async () => {
    const clock = new NoTimers()
    const { connect, root, ann } = await open({ clock })
    await root.accepted(kick('ann', { untilTs: new Date(clock.now() + 1000).toISOString() }))
    await ann.closed
    clock.advance(1000)
    await connect('ann')
  })

  test('is not lifted by a restart, nor by the operator’s changes', async () => {
    const spaces = new Map()
    const first = await open({ store: memoryStore(spaces) })
    await first.root.accepted(kick('ann'))
    await first.ann.closed
    await first.close()
    const { gateway, connectRequest, connect } = await start({ participants, store: memoryStore(spaces) })
    const status = async () => (await connectRequest({ token: testToken('ann') })).status
    expect(await status()).toBe(403)
    const { ann: _, ...rest } = participants
    await reconfigure(gateway, { participants: rest })
    expect(await status()).toBe(401)
    await reconfigure(gateway, { participants })
    expect(await status()).toBe(403)
    await connect('ben')
  })

  test('of a guest closes it; the next one may come', async () => {
    const { root, dial } = await open({ guest: { capabilities: ['chat'] } })
    const guest = await dial({})
    await root.accepted(kick(guest.participant))
    expect((await guest.closed).code).toBe(4403)
    await root.next(presence('leave', guest.participant))
    await (await dial({})).accepted(chat())
    const again = await root.refused(kick(guest.participant))
    expect(again.code).toBe('participant_not_found')
  })

  test('fits its reason into a close frame', async () => {
    const { root, ann } = await open()
    await root.accepted(kick('ann', { reason: '🦡'.repeat(5000) }))
    const { code, reason } = await ann.closed
    expect(code).toBe(4403)
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
    expect(reason).toMatch(/^kicked by root: (🦡)+$/u)
  })
})

test('of those whom the operator has removed a thousand kicks are remembered, and all of the others', () => {
  const state = new SpaceState()
  const apply = (kind: string, payload: Envelope['payload']): void => {
    const common = { protocol: 'meup/v0.3', id: 'x', ts: '2026-01-02T03:04:05.678Z', from: 'root' } as const
    state.apply({ ...common, kind, payload }, new Uint8Array())
  }
  const configure = (ids: readonly string[]): void => {
    const named = ids.map((id) => [id, { kind: 'agent', capabilities: [] }])
    const participants = Object.fromEntries(named)
    apply('system.space', { event: 'configured', mcp: { visibility: 'everyone' }, participants })
  }
  const many = Array.from({ length: 1500 }, (_, index) => `p${index}`)
  configure(many)
  for (const participantId of many) apply('space.kick', { participantId })
  configure(['p0'])
  apply('space.kick', { participantId: 'p0' })
  const { kicks } = state.trust
  expect(kicks.list()).toHaveLength(1000)
  expect(['p0', 'p1', 'p1499'].map((id) => kicks.get(id)?.by)).toEqual(['root', undefined, 'root'])
})

describe('what is refused', () => {
  test.for<[string, string | undefined, Sent]>([
    ['forbidden', '/payload/participantId', kick('root')],
    ['participant_not_found', '/payload/participantId', kick('nobody')],
    ['invalid_payload', '/payload/participantId', kick('no body')],
    ['invalid_payload', '/payload/untilTs', kick('ann', { untilTs: '2001-01-01T00:00:00Z' })],
    ['invalid_payload', '/payload/untilTs', kick('ann', { untilTs: '2999-02-31T25:00:00Z' })],
  ])('%s at %s: %j', async ([code, path, sent]) => {
    const { root, ann } = await open()
    const refused = await root.refused(sent)
    expect([refused.code, refused.details?.path]).toEqual([code, path])
    await ann.accepted(chat())
  })

  test('the last who may kick kicking itself, on whichever line', async () => {
    const alone = { root: ['*'], ben: ['chat'] }
    const { connect, post } = await start({ participants: alone })
    const root = await connect('root')
    expect(await root.refused(kick('root'))).toMatchObject({
      code: 'forbidden',
      message: fillIn(texts.ownKick, { id: 'root' }),
    })
    expect((await post('root', kick('root'))).status).toBe(403)
    await root.accepted(kick('ben'))
  })

  test('whoever has no capability for it', async () => {
    const { connect } = await open()
    const ben = await connect('ben')
    expect((await ben.refused(kick('ann'))).code).toBe('capability_violation')
  })
})
