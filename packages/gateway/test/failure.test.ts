import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { closeCodes } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, type Client, errorFor, ofKind, presence, range, type Sent, said, seqs } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { type StartOptions, start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })

async function onFaultyDisk(options: Partial<StartOptions> = {}) {
  const spaces = new Map()
  const disk = faultyDisk(memoryStore(spaces))
  const running = await start({ participants, store: disk.store, ...options })
  const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
  const { seq } = await alice.accepted(chat('before'))
  await bob.next(ofKind('chat'))
  return { ...running, ...disk, spaces, alice, bob, seq }
}

/** Resolves when every envelope that this client has sent is admitted or refused. */
const isSubmitted = (client: Client) => client.subscribe({})

describe('a log that refuses a commit', () => {
  test('refuses all that was on its way, to its senders, and then goes on', async () => {
    const errors: unknown[] = []
    const logger = { info: () => {}, warn: () => {}, error: (fields: object) => errors.push(fields) }
    const { stall, connect, alice, bob, seq } = await onFaultyDisk({ logger })
    const { appending, fail } = stall()
    alice.send({ id: 'first', ...chat() })
    await appending
    alice.send({ id: 'run', kind: 'reasoning.start' })
    alice.send({ id: 'inner', kind: 'reasoning.start', context: 'run' })
    bob.send({ id: 'ask', kind: 'mcp.request', to: ['alice'], payload: { method: 'x' } })
    await Promise.all([alice, bob].map(isSubmitted))
    fail()
    for (const [client, id, kind] of [
      [alice, 'first', 'chat'],
      [alice, 'run', 'reasoning.start'],
      [alice, 'inner', 'reasoning.start'],
      [bob, 'ask', 'mcp.request'],
    ] as const) {
      const { payload } = await client.next(errorFor(id))
      expect(payload).toMatchObject({ code: 'unavailable', attemptedKind: kind })
    }
    expect(errors).toEqual([expect.objectContaining({ space: 'test', lost: 4 })])

    const next = await alice.accepted(chat('after'))
    expect(next.seq).toBe(seq + 1)
    expect(said(await bob.until(byId(next.id)))).toEqual([next.id])
    const { welcome } = await connect('carol')
    expect(welcome.contexts).toEqual([])
    const answer = { kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } }
    expect(await alice.refused(answer)).toMatchObject({ code: 'not_found' })
    expect(await alice.refused({ kind: 'reasoning.thought', context: 'run', seq: 1 })).toMatchObject({
      code: 'invalid_envelope',
    })
    const again = await bob.accepted({ id: 'first', ...chat('now somebody else’s') })
    const reader = await connect('carol', { query: 'after=0' })
    expect(seqs(await reader.until(byId(again.id)))).toEqual(range(1, again.seq))
  })

  test('is survived more than once', async () => {
    const { stall, alice, bob, seq } = await onFaultyDisk()
    for (const round of [1, 2, 3]) {
      const { appending, fail } = stall()
      alice.send({ id: `lost${round}`, ...chat() })
      await appending
      fail()
      await alice.next(errorFor(`lost${round}`))
    }
    const { id } = await alice.accepted(chat('after'))
    expect(await bob.next(byId(id))).toMatchObject({ seq: seq + 1 })
  })

  test('names no id that its sender did not write', async () => {
    const { stall, alice } = await onFaultyDisk()
    const { appending, fail } = stall()
    alice.send(chat())
    await appending
    fail()
    expect(await alice.next(ofKind('system.error'))).not.toHaveProperty('correlationId')
  })

  test('answers a post with 503, and nothing of it is there', async () => {
    const { stall, alice, post, seq } = await onFaultyDisk()
    const { appending, fail } = stall()
    const posted = post('bob', [
      { id: 'a', ...chat() },
      { id: 'b', ...chat() },
    ])
    await appending
    fail()
    expect(await posted).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect((await alice.accepted({ id: 'a', ...chat() })).seq).toBe(seq + 1)
  })

  test('loses nobody who came meanwhile', async () => {
    const { stall, connect, bob } = await onFaultyDisk()
    const { appending, fail } = stall()
    const carol = await connect('carol')
    await appending
    fail()
    await bob.next(presence('join', 'carol'))
    await carol.next(presence('join', 'carol'))
    const { id } = await carol.accepted(chat())
    expect((await bob.until(byId(id))).filter(presence('join', 'carol'))).toEqual([])
    expect(carol.frames.filter(presence('join', 'carol'))).toHaveLength(1)
  })

  test('keeps nobody who left meanwhile, nor what they left open', async () => {
    const clock = new FakeClock()
    const { stall, connect, alice, bob } = await onFaultyDisk({ clock, reasoning: { abandonAfterMs: 1000 } })
    await alice.accepted({ id: 'run', kind: 'reasoning.start' })
    const { appending, fail } = stall()
    alice.send({ id: 'end', kind: 'reasoning.conclusion', context: 'run' })
    await appending
    await alice.close()
    let status: string | undefined
    while (status !== 'away') {
      status = (await bob.subscribe({})).participants.find(({ id }) => id === 'alice')?.status
    }
    fail()
    await bob.next(presence('leave', 'alice'))
    const { welcome } = await connect('carol')
    expect(welcome.participants).toMatchObject([{ id: 'alice', status: 'away' }, {}, {}])
    expect(welcome.contexts).toMatchObject([{ context: 'run' }])
    clock.advance(1000)
    expect(await bob.next(ofKind('reasoning.cancel'))).toMatchObject({
      context: 'run',
      payload: { reason: 'abandoned' },
    })
  })

  test('and cannot be read either closes its space, and no other', async () => {
    const { stall, fault, alice, bob, connect, close } = await onFaultyDisk({
      others: [{ name: 'other', participants }],
    })
    const elsewhere = await connect('carol', { space: 'other' })
    const { appending, fail } = stall()
    alice.send({ id: 'lost', ...chat() })
    await appending
    fault.unreadable = true
    fail()
    await alice.next(errorFor('lost'))
    expect(await bob.refused(chat())).toMatchObject({ code: 'unavailable' })
    await elsewhere.accepted(chat())
    await close()
    expect(await alice.closed).toMatchObject({ code: closeCodes.draining })
  })

  test('at the start keeps the gateway from starting', async () => {
    const { store, stall } = faultyDisk(memoryStore())
    const { appending, fail } = stall()
    const starting = start({ participants, store })
    await appending
    fail()
    await expect(starting).rejects.toThrow(/test/)
  })
})

describe('a log that is slow', () => {
  test('acknowledges nothing before it has it, and a retry waits as well', async () => {
    const { stall, connect, alice, bob } = await onFaultyDisk()
    const again = await connect('alice')
    const { appending, goOn } = stall()
    const sent = { id: 'once', ...chat() }
    alice.send(sent)
    await appending
    again.send(sent)
    expect(await bob.refused(sent)).toMatchObject({ code: 'duplicate_id' })
    expect(await again.refused({ ...sent, to: ['bob'] })).toMatchObject({ code: 'duplicate_id' })
    await isSubmitted(alice)
    for (const { frames } of [alice, again, bob]) expect(frames.some(byId('once'))).toBe(false)
    goOn()
    const mark = await alice.accepted(chat())
    for (const client of [alice, again, bob]) {
      if (client !== alice) await client.next(byId(mark.id))
      expect(client.frames.filter(byId('once'))).toHaveLength(1)
    }
  })
})

describe('a gateway that is stopped', () => {
  test('closes with 1001, and all that it acknowledged is in the log, and who left', async () => {
    const { alice, bob, spaces, close } = await onFaultyDisk()
    for (const count of range(1, 2000)) alice.send({ id: `m${count}`, ...chat() })
    await bob.next(byId('m50'))
    await close()
    for (const client of [alice, bob])
      expect(await client.closed).toMatchObject({ code: closeCodes.draining })
    const acknowledged = alice.frames.filter(({ from, seq }) => from === 'alice' && seq !== undefined)
    expect(acknowledged.length).toBeGreaterThanOrEqual(50)

    const { connect } = await start({ participants, store: memoryStore(spaces) })
    const reader = await connect('carol', { query: 'after=0' })
    const frames = await reader.until(presence('join', 'carol'))
    const logged = new Map(frames.map((frame) => [frame.id, frame]))
    for (const frame of acknowledged) expect(logged.get(frame.id)).toEqual(frame)
    const left = frames.filter(({ payload }) => payload.event === 'leave')
    expect(left.map(({ payload }) => (payload.participant as { id: string }).id).sort()).toEqual([
      'alice',
      'bob',
    ])
    expect(seqs(frames)).toEqual(range(1, frames.length))
  })

  test('first commits and acknowledges what is on its way, and takes nothing new', async () => {
    const { stall, alice, bob, spaces, close, connectRequest, post } = await onFaultyDisk()
    const { appending, goOn } = stall()
    alice.send({ id: 'in-flight', ...chat() })
    await appending
    const closing = close()
    expect(await alice.refused({ id: 'too-late', ...chat() })).toMatchObject({ code: 'unavailable' })
    expect(await connectRequest({ token: 'token-of-carol' })).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    })
    expect(await post('bob', chat())).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    goOn()
    for (const client of [alice, bob]) {
      await client.next(byId('in-flight'))
      expect(await client.closed).toMatchObject({ code: closeCodes.draining })
    }
    await closing
    const { connect } = await start({ participants, store: memoryStore(spaces) })
    const reader = await connect('carol', { query: 'after=0' })
    const frames = await reader.until(presence('join', 'carol'))
    expect(frames.some(byId('in-flight'))).toBe(true)
    expect(frames.some(byId('too-late'))).toBe(false)
  })
})
