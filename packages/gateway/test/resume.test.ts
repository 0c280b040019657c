import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { closeCodes } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, type Client, ofKind, range, type Sent, said, seqs } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'], auditor: ['observe.targeted'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })

const stores: [string, () => Promise<LogStore>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
]

/** A space in which alice has sent m1 to m10, after two envelopes of the gateway (seq 1 and 2) and her join (3). */
async function tenMessages() {
  const running = await start({ participants, humans: ['alice'] })
  const alice = await running.connect('alice')
  for (const count of range(1, 10)) await alice.accepted({ id: `m${count}`, ...chat(`${count}`) })
  return { ...running, alice }
}

/** A client's unread envelopes, up to a chat that alice sends now. */
async function upToMark(client: Client, alice: Client) {
  const { id } = await alice.accepted(chat('mark'))
  return (await client.until(byId(id))).slice(0, -1)
}

describe('a connection', () => {
  test('without after or tail gets only what comes', async () => {
    const { connect, alice } = await tenMessages()
    const bob = await connect('bob')
    expect(bob.welcome.resume).toEqual({ status: 'live', from: 14, to: 13 })
    expect(said(await upToMark(bob, alice))).toEqual([])
  })

  test('with after and epoch gets everything after it', async () => {
    const { connect, alice } = await tenMessages()
    const bob = await connect('bob', { query: `after=8&epoch=${alice.welcome.space.epoch}` })
    const { resume, space } = bob.welcome
    expect(resume).toEqual({ status: 'replaying', from: 9, to: space.head })
    expect(seqs(await upToMark(bob, alice))).toEqual(range(9, space.head + 1))
  })

  test('with after but no epoch is refused, since the log may be another one by now', async () => {
    const { connectRequest } = await tenMessages()
    const { status, body } = await connectRequest({ token: 'token-of-bob', query: 'after=8' })
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })

  test('knows from `to` when the replay is over, whatever else is in the log', async () => {
    const { connect, alice } = await tenMessages()
    const { epoch } = alice.welcome.space
    for (const count of range(1, 300)) alice.send({ ...chat(`aside ${count}`), to: ['carol'] })
    const { seq } = await alice.accepted({ ...chat('the last aside'), to: ['carol'] })
    const bob = await connect('bob', { query: 'after=0' })
    expect(bob.welcome).toMatchObject({
      resume: { status: 'replaying', from: 1, to: 13 },
      space: { head: seq },
    })
    await bob.next((frame) => frame.seq === 13)
    const nothing = await connect('bob', { query: `after=${seq - 5}&epoch=${epoch}` })
    expect(nothing.welcome.resume.from).toBe(seq - 4)
    // The replay ends with bob's own join, which is logged after `seq`.
    expect(nothing.welcome.resume.to).toBe(seq + 1)
  })

  test('is told that the replay is over, where a welcome came before its end', async () => {
    const { connect, alice } = await tenMessages()
    await alice.accepted(chat('x'.repeat(200_000)))
    for (const _ of range(1, 40)) await alice.accepted(chat('x'.repeat(200_000)))
    await alice.accepted(chat('last'))
    const bob = await connect('bob', { query: 'after=0' })
    bob.send({ kind: 'observe.subscribe', payload: { kinds: ['x.y'] } })
    const welcomes = ofKind('system.welcome')
    expect((await bob.next(welcomes)).payload.resume).toMatchObject({ status: 'replaying' })
    expect((await bob.next(welcomes)).payload.resume).toMatchObject({ status: 'live' })
  })

  test('gets the echo of what it sends again, in place or once more, and loses nothing', async () => {
    const { connect, alice } = await tenMessages()
    const large = { id: 'large', ...chat('x'.repeat(200_000)) }
    await alice.accepted(large)
    for (const _ of range(1, 40)) await alice.accepted(chat('x'.repeat(200_000)))
    const last = await alice.accepted({ id: 'last', ...chat('last') })
    const again = await connect('alice', { query: 'after=0' })
    // Alice sends both again after `large` was replayed to her, and before `last` is.
    await again.next(byId('large'))
    again.send(large)
    again.send({ id: 'last', ...chat('last') })
    const mark = await again.accepted(chat('mark'))
    const echoed = seqs(again.frames)
    expect(again.frames.filter(byId('large'))).toHaveLength(2)
    expect([...new Set(echoed)].sort((a, b) => a - b)).toEqual(range(1, mark.seq))
    expect(echoed.lastIndexOf(last.seq)).toBeGreaterThan(echoed.indexOf(last.seq - 1))
  })

  test('with after=0 gets everything from the beginning', async () => {
    const { connect, alice } = await tenMessages()
    const bob = await connect('bob', { query: 'after=0' })
    const frames = await upToMark(bob, alice)
    expect(seqs(frames)).toEqual(range(1, 14))
    expect(frames.slice(0, 3).map(({ kind, payload }) => [kind, payload.event])).toEqual([
      ['system.space', 'opened'],
      ['system.space', 'configured'],
      ['system.presence', 'join'],
    ])
  })

  test('with after at the head has missed nothing', async () => {
    const { connect, alice } = await tenMessages()
    const bob = await connect('bob', { query: 'after=13' })
    expect(bob.welcome.resume).toEqual({ status: 'replaying', from: 14, to: 13 })
    expect(said(await upToMark(bob, alice))).toEqual([])
  })

  test.for(['after=5&epoch=another', 'after=13&epoch=', 'after=14', 'after=9007199254740991'])(
    'with %s has lost its place, and gets everything',
    async (query) => {
      const { connect, alice } = await tenMessages()
      const bob = await connect('bob', { query })
      expect(bob.welcome.resume).toEqual({ status: 'lost', from: 1, to: 13 })
      expect(seqs(await upToMark(bob, alice))).toEqual(range(1, 14))
    },
  )

  test('with tail gets the last that it may see', async () => {
    const { connect, alice } = await tenMessages()
    for (const count of range(1, 300)) alice.send({ ...chat(`aside ${count}`), to: ['carol'] })
    await alice.accepted({ id: 'm11', ...chat('11') })
    const whole = await connect('bob', { query: 'after=0' })
    const all = seqs(await whole.until(byId((await alice.accepted(chat('mark'))).id)))
    for (const count of [0, 1, 3, 10, all.length, 100_000]) {
      const bob = await connect('bob', { query: `tail=${count}` })
      expect(seqs(await upToMark(bob, alice))).toEqual(count === 0 ? [] : all.slice(-count))
      all.push(...seqs(bob.frames.slice(-1)))
    }
    expect(all.length).toBeLessThan(30)
  })
})

test.for(['everyone', 'addressees'] as const)(
  'a replay shows each reader exactly what it would have seen live, mcp visible to %s',
  async (visibility) => {
    const { connect } = await start({ participants, mcp: { visibility } })
    const names = Object.keys(participants)
    const live = await Promise.all(names.map((name) => connect(name)))
    const [alice, bob] = live
    if (alice === undefined || bob === undefined) throw new Error('nobody is there')
    await alice.accepted({ id: 'plan', kind: 'mcp.proposal', to: ['carol'], payload: { method: 'x' } })
    await bob.accepted({
      id: 'ask',
      kind: 'mcp.request',
      to: ['carol'],
      correlationId: 'plan',
      payload: { method: 'x' },
    })
    await live[2]?.accepted({ kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
    for (const to of [['bob'], ['carol', 'bob'], ['alice'], undefined]) {
      await alice.accepted({ ...chat('x'), ...(to && { to }) })
      await bob.accepted({ kind: 'reasoning.thought', context: 'c', ...(to && { to }) })
    }
    const mark = await alice.accepted(chat('mark'))
    const last = mark.seq - 1
    for (const [at, client] of live.entries()) {
      const again = await connect(names[at] ?? '', { query: 'after=6' })
      const replayed = await again.until(byId(mark.id))
      const seen = client.frames.filter(({ seq }) => seq !== undefined && seq > 6 && seq <= last + 1)
      expect(replayed.map((frame) => again.texts.get(frame))).toEqual(
        seen.map((frame) => client.texts.get(frame)),
      )
    }
  },
)

describe('while others write', () => {
  test.for(stores)('resuming leaves no gap and repeats nothing: %s', async ([, openStore]) => {
    const { connect } = await start({ participants, store: await openStore() })
    const total = 4000
    const alice = await connect('alice')
    let isWriting = true
    const writing = (async () => {
      for (let count = 1; count <= total; count++) {
        alice.send({ id: `w${count}`, ...chat('x'.repeat(count % 50)) })
        if (count % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      await alice.next(byId(`w${total}`))
      isWriting = false
    })()

    /** Reconnects until the writer is done, each time after the last seq that it received. */
    const restless = async (participant: string): Promise<number[]> => {
      const got: number[] = []
      for (;;) {
        const client = await connect(participant, { query: `after=${got.at(-1) ?? 0}` })
        let left = isWriting ? 150 : Number.POSITIVE_INFINITY
        const frames = await client.until(({ id }) => --left === 0 || id === `w${total}`)
        got.push(...seqs(frames))
        if (frames.some(byId(`w${total}`))) return got
        client.ws.terminate()
      }
    }
    const results = await Promise.all([restless('bob'), restless('bob'), restless('carol'), writing])
    for (const got of results.slice(0, 3)) {
      expect(got).toEqual(range(1, got?.at(-1) ?? 0))
      expect(got?.length).toBeGreaterThanOrEqual(total)
    }
  })
})

describe('while a commit is on its way', () => {
  test('a replay waits for what the log has already, and shows it once', async () => {
    const { store, stallAcknowledgement } = faultyDisk(memoryStore())
    const { connect, post } = await start({ participants, store })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const { seq } = await alice.accepted(chat('before'))
    const { written, goOn } = stallAcknowledgement()
    // All messages are in one commit, with more rows than one page of a replay.
    const sent = range(1, 400).map((count) => ({ id: `m${count}`, ...chat(`${count}`) }))
    const posted = post('alice', sent)
    await written
    const readers = await Promise.all(
      [0, seq - 1, seq].map((after) => connect('bob', { query: `after=${after}` })),
    )
    await Promise.all(readers.slice(0, 2).map((reader) => reader.next(({ seq: at }) => at === seq)))
    expect(readers.flatMap(({ frames }) => frames).some(byId('m1'))).toBe(false)
    goOn()
    await posted
    const mark = await alice.accepted(chat('mark'))
    for (const reader of [bob, ...readers]) {
      await reader.until(byId(mark.id))
      expect(
        reader.frames
          .filter(ofKind('chat'))
          .map(({ id }) => id)
          .slice(-401),
      ).toEqual([...sent.map(({ id }) => id), mark.id])
      expect(new Set(seqs(reader.frames)).size).toBe(seqs(reader.frames).length)
    }
  })
})

describe('a reader that is too slow', () => {
  const message = 'x'.repeat(200_000)

  test('is closed 4410, nobody waits for it, and it resumes whole', async () => {
    const { connect, url } = await start({ participants, limits: { sendBufferBytes: 256 * 1024 } })
    const [alice, bob, slow] = [await connect('alice'), await connect('bob'), await connect('carol')]
    slow.ws.pause()
    let total = 0
    const closed = async () => /slow_closes_total\S* 1$/m.test(await (await fetch(`${url}/metrics`)).text())
    while (!(await closed())) {
      total += 1
      await alice.accepted({ id: `m${total}`, ...chat(message) })
      await bob.next(byId(`m${total}`))
    }
    // The gateway has sent a close frame, and soon ends the connection: the client has to read now to receive the close code.
    slow.ws.resume()
    expect(await slow.closed).toMatchObject({ code: closeCodes.tooSlow })
    total += 1
    await alice.accepted({ id: `m${total}`, ...chat(message) })
    const got = seqs(slow.frames)
    const reached = got.at(-1) ?? 0
    expect(got).toEqual(range(got[0] ?? 0, reached))
    expect(slow.frames.some(byId(`m${total}`))).toBe(false)

    const again = await connect('carol', { query: `after=${reached}` })
    const rest = seqs(await again.until(byId(`m${total}`)))
    expect(rest).toEqual(range(reached + 1, rest.at(-1) ?? 0))
    const chats = [...slow.frames, ...again.frames].filter(ofKind('chat')).map(({ id }) => id)
    expect(chats).toEqual(range(1, total).map((count) => `m${count}`))
  })

  test('is not who replays much and meanwhile says again what may have been lost', async () => {
    const { connect } = await start({ participants, limits: { sendBufferBytes: 1024 * 1024 } })
    const alice = await connect('alice')
    for (const count of range(1, 100)) await alice.accepted({ id: `m${count}`, ...chat(message) })
    await alice.accepted({ id: 'last', ...chat('small') })
    const again = await connect('alice', { query: 'after=0' })
    for (const [id, text] of [
      ['last', 'small'],
      ['m1', message],
    ] as const) {
      again.send({ id, ...chat(text) })
    }
    expect(await again.refused({ kind: 'chat.x' })).toMatchObject({ code: 'unknown_kind' })
    const { seq } = await again.accepted(chat('still here'))
    expect(seq).toBe(105)
    // An echo may repeat an envelope, but never precedes its delivery: the first occurrences are in the order of the log.
    expect([...new Set(seqs(again.frames))]).toEqual(range(1, seq))
    expect(again.frames.filter(byId('m100'))).toHaveLength(1)
  })
})
