import { readFileSync } from 'node:fs'
import { type Connection, sqliteStore } from '@meup/gateway'
import { createTestGateway, FakeClock, testToken } from '@meup/gateway/testing'
import { defaultRates, type Envelope, type ErrorPayload, Kind } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, type Client, freshId, ofKind, range, type Sent } from './client.js'
import { asking, type EventReader } from './http-client.js'
import { type StartOptions, start, temporaryFile } from './support.js'
import { begin, conclude, thought } from './turns.js'

const participants = {
  ana: ['*', 'observe.targeted'],
  ben: ['chat', 'reasoning.*', 'observe.visibility'],
  cem: ['chat'],
}
const question = { id: 'q', kind: Kind.chat, payload: { message: 'why?' } }

/** A delta, which is a part of an unfinished answer to `q`. */
const delta = (index: number, text: string, more: object = {}): Sent => ({
  id: freshId(),
  kind: Kind.chatDelta,
  correlationId: 'q',
  payload: { index, text },
  ...more,
})

const answer = (more: object = {}): Sent => ({
  id: freshId(),
  kind: Kind.chat,
  correlationId: 'q',
  payload: { message: 'because' },
  ...more,
})

async function asked(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  const [ana, ben, cem] = [
    await running.connect('ana'),
    await running.connect('ben'),
    await running.connect('cem'),
  ]
  await ana.accepted(question)
  for (const each of [ben, cem]) await each.until(byId('q'))
  return { ...running, ana, ben, cem }
}

/** Texts of the deltas that a client gets before a public answer. */
async function textsBefore(client: Client, ben: Client): Promise<unknown[]> {
  const { id } = await ben.accepted(answer())
  return textsIn(await client.until(byId(id)))
}

const textsIn = (frames: readonly Envelope[]): unknown[] =>
  frames.filter(ofKind(Kind.chatDelta)).map(({ payload }) => payload.text)

const codesIn = ({ frames }: Client): string[] =>
  frames.filter(ofKind('system.error')).map(({ payload }) => (payload as ErrorPayload).code)

describe('a delta', () => {
  test('goes at once to everybody else, without a seq [MEUP-3.25]', async () => {
    const { ana, ben, cem } = await asked()
    ben.send(delta(0, 'be'))
    ben.send(delta(1, 'cause'))
    for (const each of [ana, cem]) expect(await textsBefore(each, ben)).toEqual(['be', 'cause'])
    const deltas = ana.frames.filter(ofKind(Kind.chatDelta))
    expect(deltas.every((frame) => frame.seq === undefined && frame.from === 'ben')).toBe(true)
    expect(textsIn(ben.frames)).toEqual([])
  })

  test('goes to the other connections of its sender [MEUP-3.25]', async () => {
    const { ben, connect } = await asked()
    const other = await connect('ben')
    ben.send(delta(0, 'be'))
    expect(await textsBefore(other, ben)).toEqual(['be'])
  })

  test('leaves no trace: not in the log, the index, a checkpoint, or any view [MEUP-3.25]', async () => {
    const path = temporaryFile('log.db')
    const { ana, ben, url, close } = await asked({ store: await sqliteStore({ path }) })
    await ben.accepted(begin('run', 'q', 'let me see'))
    ben.send(delta(0, 'ephemeral'))
    await ana.next(ofKind(Kind.chatDelta))
    await ben.accepted(conclude('run'))
    const { seq } = await ben.accepted(answer())
    const views = [
      ...['/envelopes', '/turns?thread_id=test/ben', '/audit', '/contexts', '/participants'],
      ...['/audit/export?format=jsonl', '/audit/export?format=markdown', '/contexts/run?format=markdown'],
    ]
    for (const view of views) {
      const text = await (await asking(url, 'ana').get(view)).text()
      expect([view, text.includes('ephemeral'), text.includes(Kind.chatDelta)]).toEqual([view, false, false])
    }
    // Seqs 1 to 9: opened, configured, three joins, the question, start and end of the run, and this answer.
    expect(seq).toBe(9)
    await close()
    for (const file of [path, `${path}.index.db`]) {
      expect(readFileSync(file).includes('ephemeral'), file).toBe(false)
    }
  })

  test('is missed by who comes later, and who replays the log [MEUP-3.25]', async () => {
    const { ana, ben, connect } = await asked()
    ben.send(delta(0, 'be'))
    await ana.next(ofKind(Kind.chatDelta))
    const [late, replaying] = [await connect('cem'), await connect('cem', { query: 'after=0' })]
    await replaying.next(byId('q'))
    ben.send(delta(1, 'cause'))
    expect(await textsBefore(late, ben)).toEqual(['cause'])
    expect(textsIn(replaying.frames)).not.toContain('be')
  })

  test('is cut by kinds from the moment on that these change [MEUP-8.3, 9.1]', async () => {
    const { ana, ben } = await asked()
    const [cut, uncut] = [{ kinds: ['!chat.delta'] }, { kinds: ['chat.*'], from: ['cem'], reasoning: 'none' }]
    const write = async (index: number, text: string): Promise<void> => {
      ben.send(delta(index, text, { to: ['ana'] }))
      await ben.refused({ kind: 'acme.note' }) // The gateway has forwarded the earlier deltas by then.
    }
    await write(0, 'one')
    await ana.subscribe(cut)
    await write(1, 'two')
    const { subscription } = await ana.subscribe(uncut)
    expect(subscription.suppressed).toMatchObject({ envelopes: 1 })
    await write(2, 'three')
    await ana.subscribe({})
    await write(3, 'four')
    await ben.accepted(answer({ id: 'end' }))
    await ana.until(byId('end'))
    expect(textsIn(ana.frames)).toEqual(['one', 'three', 'four'])
  })

  test('is refused over HTTP, alone and among others [MEUP-3.25]', async () => {
    const { ana, ben, post } = await asked()
    const refusal = { status: 400, body: { code: 'invalid_request' } }
    expect(await post('ben', delta(0, 'be'))).toMatchObject(refusal)
    expect(await post('ben', [answer({ id: 'a' }), delta(0, 'be'), answer({ id: 'b' })])).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', failedIndex: 1, accepted: [{ id: 'a' }] },
    })
    expect(await textsBefore(ana, ben)).toEqual([])
  })

  test('costs its own bucket, and one of chat nothing [MEUP-7.1]', async () => {
    const rate = { perSecond: 0.001, burst: 3 }
    const { ana, ben } = await asked({ rates: { ben: { deltas: rate, chat: rate } } })
    for (const index of range(0, 3)) ben.send(delta(index, `${index}`))
    for (const _ of range(1, 2)) await ben.accepted(answer())
    expect(await textsBefore(ana, ben)).toEqual(['0', '1', '2'])
    expect(codesIn(ben)).toEqual(['rate_limited'])
    expect(await ben.refused(answer())).toMatchObject({ details: { class: 'chat' } })
  })
})

describe('who may not read an answer gets no part of it [MEUP-8.1]:', () => {
  test('whose right to read what is for others was taken away', async () => {
    const { ana, ben, cem } = await asked()
    const grant = { recipient: 'cem', capabilities: ['observe.targeted'] }
    const { id } = await ana.accepted({ kind: Kind.capabilityGrant, payload: grant })
    await cem.next(ofKind('system.welcome'))
    ben.send(delta(0, 'be', { to: ['ana'] }))
    await cem.next(ofKind(Kind.chatDelta))
    await ana.accepted({ kind: Kind.capabilityRevoke, payload: { recipient: 'cem', grantId: id } })
    ben.send(delta(1, 'cause', { to: ['ana'] }))
    expect(await textsBefore(cem, ben)).toEqual([])
  })

  test('who was kicked; nor does it write on', async () => {
    const { ana, ben, cem } = await asked()
    await ana.accepted({ kind: Kind.spaceKick, payload: { participantId: 'cem' } })
    ben.send(delta(0, 'be'))
    await cem.closed
    expect(textsIn(cem.frames)).toEqual([])
    await ana.accepted({ kind: Kind.spaceKick, payload: { participantId: 'ben' } })
    ben.send(delta(1, 'cause'))
    await ben.closed
    await ana.accepted(answer())
    expect(textsIn(ana.frames)).toEqual(['be'])
  })
})

verifies('O11', 'a hidden run withholds its thoughts, and no part of the answer', async () => {
  const { ana, ben } = await asked()
  const hide = { kind: Kind.observeVisibility, payload: { context: 'run', reasoningVisible: false } }
  await ben.accepted(begin('run', 'q', 'let me see'))
  await ben.accepted(hide)
  await ben.accepted(thought('run', 'hidden'))
  ben.send(delta(0, 'shown'))
  expect(await textsBefore(ana, ben)).toEqual(['shown'])
  expect(ana.frames.filter(({ kind }) => kind === Kind.reasoningThought)).toEqual([])
})

describe('a reader that is behind', () => {
  const sendBufferBytes = 96 * 1024

  /** Connects a writer, and a reader whose sent bytes stay unread until its `read` is called. */
  async function behind() {
    const gateway = await createTestGateway({ participants, limits: { sendBufferBytes } })
    onTestFinished(() => gateway.close())
    const enter = async (participant: string, connection: Connection) => {
      const grant = await gateway.admit({ space: 'test', token: testToken(participant), remote: 'here' })
      if ('message' in grant) throw new Error(grant.message)
      return grant.open(connection, {})
    }
    const reader = new Deaf()
    await enter('ana', reader)
    const line = await enter('ben', new Deaf())
    const visitor = await gateway.identify({ space: 'test', token: testToken('ben'), remote: 'here' })
    if ('message' in visitor) throw new Error(visitor.message)
    const send = async (sent: object): Promise<void> => {
      line.receive(Buffer.from(JSON.stringify(sent)))
      await visitor.space.settled()
    }
    reader.read()
    return { reader, send }
  }

  test('by more than 64 KiB loses deltas, is not closed for them, and gets the answer [MEUP-3.25, 5.8]', async () => {
    const { reader, send } = await behind()
    for (const index of range(0, 30)) await send(delta(index, 'x'.repeat(5000)))
    expect(reader.pending).toBeGreaterThan(64 * 1024)
    const { pending } = reader
    await send(delta(31, 'x'))
    expect(reader.pending).toBe(pending)
    await send(answer({ id: 'a' }))
    expect(reader.ids.at(-1)).toBe('a')
    reader.read()
    await send(delta(0, 'x', { id: 'again' }))
    expect([reader.ids.at(-1), reader.closedWith]).toEqual(['again', undefined])
  })

  test('is closed for what is logged alone, however large deltas are [MEUP-3.25, 5.8]', async () => {
    const { reader, send } = await behind()
    await send(delta(0, 'x'.repeat(60 * 1024)))
    await send(delta(1, 'x'.repeat(200 * 1024)))
    for (const _ of range(1, 9)) await send(answer({ payload: { message: 'x'.repeat(10 * 1024) } }))
    expect(reader.closedWith).toBeUndefined()
    for (const _ of range(1, 2)) await send(answer({ payload: { message: 'x'.repeat(10 * 1024) } }))
    expect(reader.closedWith).toBe(4410)
  })
})

/** A connection whose sent bytes stay unread until `read` is called. */
class Deaf implements Connection {
  readonly remote = 'here'
  readonly isGone = false
  readonly ids: string[] = []
  pending = 0
  closedWith: number | undefined

  send({ messages }: Parameters<Connection['send']>[0]): void {
    for (const { text } of messages) {
      this.pending += text.length
      this.ids.push((JSON.parse(Buffer.from(text).toString()) as Envelope).id)
    }
  }

  read(): void {
    this.pending = 0
  }

  drained(): Promise<void> {
    return Promise.resolve()
  }

  close(code: number): void {
    this.closedWith = code
  }
}

describe('a stream of events', () => {
  const until = (stream: EventReader, id: string) =>
    stream.until(({ data }) => (JSON.parse(data) as Envelope).id === id)

  test('has deltas as events without an id; resuming gives what is logged alone [MEUP-11.4]', async () => {
    const { ben, url } = await asked()
    const stream = await asking(url, 'cem').events()
    ben.send(delta(0, 'be', { id: 'd1' }))
    const { seq } = await ben.accepted(answer({ id: 'a1' }))
    ben.send(delta(1, 'cause', { id: 'd2' }))
    const events = await until(stream, 'd2')
    const heads = events.map(({ event, id, data }) => [event, id, (JSON.parse(data) as Envelope).id])
    expect(heads.toSorted()).toEqual(
      [
        ['delta', undefined, 'd1'],
        ['envelope', `${seq}`, 'a1'],
        ['delta', undefined, 'd2'],
      ].toSorted(),
    )
    const d1 = events.find(({ data }) => data.includes('"d1"'))
    expect(JSON.parse(d1?.data ?? '')).toMatchObject({
      from: 'ben',
      kind: Kind.chatDelta,
      correlationId: 'q',
      payload: { index: 0, text: 'be' },
    })
    await ben.accepted(answer({ id: 'a2' }))
    const resumed = await asking(url, 'cem').events('', { 'last-event-id': `${seq - 1}` })
    expect((await until(resumed, 'a2')).map(({ event }) => event)).toEqual(['envelope', 'envelope'])
  })

  test('has the deltas that its filters select [MEUP-11.3]', async () => {
    const { ana, ben, url } = await asked({ limits: { connectionsPerParticipant: 16 } })
    const both = ['d1', 'a']
    const selected: Readonly<Record<string, readonly string[]>> = {
      '': both,
      'kind=chat': ['a'],
      'kind=chat.delta': ['d1'],
      'kind=chat,chat.delta': both,
      'from=ben': both,
      'correlationId=q': both,
      'reasoning=none': both,
      'from=ana': [],
      'correlationId=p': [],
      'context=run': [],
    }
    const streams = await Promise.all(Object.keys(selected).map((query) => asking(url, 'cem').events(query)))
    ben.send(delta(0, 'be', { id: 'd1' }))
    await ana.next(byId('d1'))
    await ben.accepted(answer({ id: 'a' }))
    const got = await Promise.all(
      Object.values(selected).map(async (ids, index) => {
        const stream = streams[index]
        if (ids.length === 0) return stream?.all.map(() => 'something')
        const events = await stream?.until(({ data }) => (JSON.parse(data) as Envelope).id === ids.at(-1))
        return events?.map(({ data }) => (JSON.parse(data) as Envelope).id)
      }),
    )
    expect(got).toEqual(Object.values(selected))
  })

  test('is not written by a delta: line breaks stay within its data [MEUP-11.4]', async () => {
    const { ben, url } = await asked()
    const stream = await asking(url, 'cem').events()
    const id = freshId()
    ben.send(
      `{"id":"${id}","kind":"chat.delta","correlationId":"q","payload":{"index":0,\n\nevent: envelope\r\rid: 9\n"text":"x"}}`,
    )
    const forged = { index: 0, text: '\n\nevent: envelope\nid: 1\ndata: {}\n\n' }
    ben.send(
      `{"id":"d1","kind":"chat.delta","correlationId":"q","payload":\r\n\n${JSON.stringify(forged).replace(',', ',\n\n')}}`,
    )
    const events = await until(stream, 'd1')
    expect(events.map(({ event, id: eventId }) => [event, eventId])).toEqual([['delta', undefined]])
    expect((JSON.parse(events[0]?.data ?? '') as Envelope).payload).toEqual(forged)
    expect(codesIn(ben)).toEqual(['invalid_json'])
  })
})

describe('a flood of deltas', () => {
  const clocked = async (limits: StartOptions['rates'] = {}) => {
    const clock = new FakeClock()
    return { clock, ...(await asked({ clock, limits: { rates: defaultRates }, rates: limits })) }
  }

  test('passes 50 a second; the rest costs frames, until its socket is not read [MEUP-7.1]', async () => {
    const { clock, ana, ben, gateway } = await clocked({ ben: { frames: { perSecond: 10, burst: 20 } } })
    for (const index of range(0, 199)) ben.send(delta(index, 'x'))
    await expect.poll(() => gateway.report()[0]?.metrics.heldReads).toBeGreaterThan(0)
    for (const _ of range(1, 3)) await ana.accepted(answer())
    expect(textsIn(ana.frames)).toHaveLength(50)
    const refused = codesIn(ben).length
    expect(refused).toBeGreaterThan(19)
    ben.send(delta(0, 'held'))
    for (const _ of range(1, 3)) await ana.accepted(answer())
    expect(textsIn(ana.frames)).not.toContain('held')
    expect(new Set(codesIn(ben))).toEqual(new Set(['rate_limited']))
    clock.advance(60_000)
    await ana.next(({ payload }) => Number(payload.index) > 50)
  })

  test('of many bytes is read as fast as its bytes allow [MEUP-7.1]', async () => {
    const { clock, ana, ben, gateway } = await clocked()
    for (const index of range(0, 19)) ben.send(delta(index, 'x'.repeat(200 * 1024)))
    await expect.poll(() => gateway.report()[0]?.metrics.heldReads).toBeGreaterThan(0)
    for (const _ of range(1, 3)) await ana.accepted(answer())
    const passed = ana.frames.filter(ofKind(Kind.chatDelta)).length
    // Ana gets the deltas for which ben's unused allowance of 2 MiB pays, ten of 200 KiB, and the one that exceeded it.
    expect(passed).toBeGreaterThan(5)
    expect(passed).toBeLessThan(13)
    clock.advance(60_000)
    await ana.next(({ payload }) => payload.index === 19)
  })

  test('to strangers is refused, and costs its bucket as well [MEUP-1.6, 7.1]', async () => {
    const { ana, ben } = await clocked()
    const sent = range(0, 59).map((index) => delta(index, 'x', { to: [`stranger-${index}`] }))
    for (const each of sent) ben.send(each)
    await ben.until((frame) => frame.correlationId === sent.at(-1)?.id)
    const codes = codesIn(ben)
    expect(codes.filter((code) => code === 'participant_not_found')).toHaveLength(50)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(10)
    expect(await textsBefore(ana, ben)).toEqual([])
  })
})
