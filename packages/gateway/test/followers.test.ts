import { type EnvelopeLog, memoryStore } from '@meup/gateway'
import { createDraft, FakeClock, testSpaceConfig } from '@meup/gateway/testing'
import { GATEWAY, Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { configurationRecord } from '../src/host/space-host.js'
import type { LogListener, Note, Row } from '../src/ports/envelope-log.js'
import { byId, ofKind } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['observe.targeted'] }

/** A log that another gateway sequences, and what that is asked. */
async function followed(answer: (note: Note) => Record<string, unknown>) {
  const inner = memoryStore()
  const log = await inner.open('test')
  const payload = { event: 'configured', ...configurationRecord(testSpaceConfig({ participants })) }
  const ts = '2026-01-01T00:00:00.000Z'
  await log.append([createDraft(1, { id: 'configured', ts, from: GATEWAY, kind: Kind.systemSpace, payload })])
  const asked: Note[] = []
  let listener: LogListener<Row> | undefined
  const shared = {
    leads: false,
    self: 'here',
    listen(given: LogListener<Row>) {
      listener = given
    },
    prune: async () => {},
    notify() {},
    async ask(note: Note) {
      asked.push(note)
      return answer(note)
    },
  }
  const open = async () => Object.assign(Object.create(log) as EnvelopeLog, { shared })
  /** The other gateway says something. */
  const say = (head: object, body: object): void =>
    listener?.onNote({ head: { ...head }, body: Buffer.from(JSON.stringify(body)) })
  /** The other gateway has written an envelope. */
  const write = async (fields: {
    id: string
    from: string
    kind: string
    payload: Record<string, unknown>
  }): Promise<void> => {
    const after = log.head
    await log.append([createDraft(after + 1, { ts, ...fields })])
    listener?.onRows(await log.read({ after, limit: 1 }))
  }
  return { store: { ...inner, open }, asked, say, write }
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
    // Within 1 MiB that may wait, and 64 KiB and one more that a reader may have before it.
    expect(ids.slice(0, 1)).toEqual(['d0'])
    expect(ids).not.toContain('d10')
  })
})
