import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byId, type Client, type Sent } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], plain: ['*'], auditor: ['observe.targeted', 'chat'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })

/** A conversation in which many envelopes have addressees. */
async function talk(alice: Client, bob: Client): Promise<void> {
  await alice.accepted({ ...chat('to bob'), to: ['bob'] })
  await alice.accepted({ id: 'plan', kind: 'mcp.proposal', to: ['bob'], payload: { method: 'x' } })
  await bob.accepted({ id: 'ask', kind: 'mcp.request', to: ['alice'], payload: { method: 'x' } })
  await alice.accepted({ kind: 'mcp.response', correlationId: 'ask', payload: { result: {} } })
  for (const to of [['bob'], ['plain'], ['plain', 'bob'], ['alice'], undefined]) {
    const addressed = { ...(to && { to }) }
    await alice.accepted({ kind: 'reasoning.start', ...addressed })
    await bob.accepted({ kind: 'reasoning.thought', context: 'c', ...addressed })
    await bob.accepted({ ...chat('again'), ...addressed })
    await alice.accepted({ kind: 'my.own', context: 'c/d', ...addressed })
  }
}

test.for(['everyone', 'addressees'] as const)(
  'history, events, a replay and live delivery show each reader the same, mcp visible to %s',
  async (visibility) => {
    const { url, connect } = await start({ participants, mcp: { visibility } })
    const readers = ['bob', 'plain', 'auditor']
    const live = await Promise.all(readers.map((reader) => connect(reader)))
    const streams = await Promise.all(readers.map((reader) => asking(url, reader).events()))
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    const head = await alice.accepted(chat('begin'))
    await talk(alice, bob)
    const mark = await alice.accepted(chat('end'))

    const sizes = new Set<number>()
    for (const [at, reader] of readers.entries()) {
      const { lines, history, events } = asking(url, reader)
      const socket = live[at]
      const stream = streams[at]
      if (socket === undefined || stream === undefined) throw new Error('nobody is there')
      const expected = (await socket.until(byId(mark.id)))
        .filter(({ seq }) => seq !== undefined && seq > head.seq)
        .map((frame) => socket.texts.get(frame) ?? '')
      sizes.add(expected.length)

      const replay = await connect(reader, { query: `after=${head.seq}` })
      expect((await replay.until(byId(mark.id))).map((frame) => replay.texts.get(frame))).toEqual(expected)
      expect(await lines(`after=${head.seq}&before=${mark.seq + 1}`)).toEqual(expected)
      const { envelopes } = await history(`after=${head.seq}&before=${mark.seq + 1}&order=desc&limit=1000`)
      expect(envelopes.reverse()).toEqual(expected.map((text) => JSON.parse(text)))

      const isMark = ({ data }: { data: string }) => (JSON.parse(data) as Envelope).id === mark.id
      const replayed = await (await events(`after=${head.seq}`)).until(isMark)
      expect(replayed.map(({ data }) => data)).toEqual(expected)
      const streamed = (await stream.until(isMark)).filter(({ id }) => Number(id) > head.seq)
      expect(streamed.map(({ data }) => data)).toEqual(expected)
    }
    expect(sizes.size).toBe(3)
  },
)

test('a guest sees what is for everyone', async () => {
  const { url, connect } = await start({ participants, guest: { capabilities: ['observe.targeted'] } })
  const alice = await connect('alice')
  await alice.accepted({ id: 'secret', ...chat('to bob'), to: ['bob'] })
  await alice.accepted({ id: 'open', ...chat('to all') })
  const response = await fetch(`${url}/spaces/test/envelopes?kind=chat`)
  const { envelopes } = (await response.json()) as { envelopes: Envelope[] }
  expect(envelopes.map(({ id }) => id)).toEqual(['open'])
})
