import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { byId, type Client, errorFor, freshId, ofKind } from './client.js'
import { asking } from './http-client.js'
import { start } from './support.js'

const participants = { ana: ['*'], ben: ['chat'], cem: ['chat'], eve: [{ kind: 'reasoning.*' }] }
const question = { id: 'q', kind: Kind.chat, payload: { message: 'why?' } }

/** An answer to `q` as it is written. */
const delta = (index: number, text: string, more: object = {}) => ({
  id: freshId(),
  kind: Kind.chatDelta,
  correlationId: 'q',
  payload: { index, text },
  ...more,
})

async function asked() {
  const running = await start({ participants })
  const [ana, ben, cem] = [
    await running.connect('ana'),
    await running.connect('ben'),
    await running.connect('cem'),
  ]
  await ana.accepted(question)
  for (const each of [ben, cem]) await each.until(byId('q'))
  return { ...running, ana, ben, cem }
}

/** All that a client gets before ben answers. */
async function beforeAnswer(client: Client, ben: Client, answer: object = {}) {
  const { id } = await ben.accepted({
    kind: Kind.chat,
    correlationId: 'q',
    payload: { message: 'because' },
    ...answer,
  })
  return (await client.until(byId(id))).slice(0, -1)
}

describe('a delta', () => {
  test('goes at once to everybody else, without a seq, and is not in the log [MEUP-3.25]', async () => {
    const { ana, ben, cem, url } = await asked()
    ben.send(delta(0, 'be'))
    ben.send(delta(1, 'cause'))
    for (const each of [ana, cem]) {
      const frames = await beforeAnswer(each, ben)
      const deltas = frames.filter(({ kind }) => kind === Kind.chatDelta)
      expect(deltas.map(({ payload }) => payload)).toEqual([
        { index: 0, text: 'be' },
        { index: 1, text: 'cause' },
      ])
      expect(deltas.every((frame) => frame.seq === undefined && frame.from === 'ben')).toBe(true)
    }
    expect(ben.frames.filter(ofKind(Kind.chatDelta))).toEqual([])
    const page = (await (await asking(url, 'ana').get('/envelopes')).json()) as {
      envelopes: { kind: string }[]
    }
    expect(page.envelopes.map(({ kind }) => kind)).not.toContain(Kind.chatDelta)
  })
})
