import { type Envelope, Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { byId, type Client, errorFor, ofKind } from '../../../gateway/test/client.js'
import { asking } from '../../../gateway/test/http-client.js'
import { start } from '../../../gateway/test/support.js'
import { openNats, withNats } from '../nats.js'

const participants = { ana: ['*'], ben: ['chat'], cem: ['chat'], dia: ['chat'] }

/** Two gateways that share the log of one space: the first one writes it, the second one follows. */
async function two() {
  const { store } = await openNats()
  const stores = [await store(), await store()] as const
  const one = await start({ participants, store: stores[0] })
  const follower = await start({ participants, store: stores[1] })
  return { one, follower }
}

const delta = (index: number, more: object = {}) => ({
  id: `d${index}`,
  kind: Kind.chatDelta,
  correlationId: 'q',
  payload: { index, text: 'x' },
  ...more,
})

const indexesIn = (frames: readonly Envelope[]): unknown[] =>
  frames.filter(ofKind(Kind.chatDelta)).map(({ payload }) => payload.index)

test(
  'deltas that are sent at either gateway reach readers at both, in order and at most once; not their sender [MEUP-3.25]',
  withNats(async () => {
    const { one, follower } = await two()
    const readers = await Promise.all([one, follower].map((gateway) => gateway.connect('ana')))
    const strangers = await Promise.all([one, follower].map((gateway) => gateway.connect('dia')))
    const stream = await asking(follower.url, 'ana').events()
    const ben = await one.connect('ben')
    const cem = await follower.connect('cem')
    const write = async (writer: Client, id: string): Promise<void> => {
      for (let index = 0; index < 20; index++) writer.send(delta(index, { to: ['ana'] }))
      // Deltas are not acknowledged. Frames are handled in order: once this envelope is refused, all deltas are forwarded.
      writer.send({ id: `${id}-refused`, kind: 'acme.note' })
      await writer.next(errorFor(`${id}-refused`))
      await writer.accepted({ id, kind: Kind.chat, correlationId: 'q', payload: { message: 'because' } })
    }
    const all = Array.from({ length: 20 }, (_, index) => index)
    for (const [writer, id] of [
      [ben, 'at the leader'],
      [cem, 'at the follower'],
    ] as const) {
      const name = id.replaceAll(' ', '-')
      await write(writer, name)
      for (const reader of readers) {
        await expect.poll(() => reader.frames.some(byId(name))).toBe(true)
        await expect.poll(() => indexesIn(reader.frames)).toEqual(all)
        reader.frames.length = 0
      }
    }
    const events = await stream.until(({ data }) => data.includes('"at-the-follower"'))
    expect(events.filter(({ event }) => event === 'delta').length).toBeGreaterThan(20)
    for (const each of [...strangers, ben, cem]) expect(indexesIn(each.frames)).toEqual([])
  }),
)

test(
  'a delta is refused by the same rules at the gateway that follows [MEUP-3.25]',
  withNats(async () => {
    const { follower, one } = await two()
    const [ana, cem] = [await one.connect('ana'), await follower.connect('cem')]
    expect(await cem.refused(delta(0, { context: 'run' }))).toMatchObject({ code: 'invalid_envelope' })
    expect(await cem.refused(delta(0, { to: ['nobody'] }))).toMatchObject({ code: 'participant_not_found' })
    const [status, body] = await follower.post('cem', delta(0)).then((answer) => [answer.status, answer.body])
    expect([status, body]).toMatchObject([400, { code: 'invalid_request' }])
    await ana.accepted({ kind: Kind.participantPause, to: ['cem'] })
    expect(await cem.refused(delta(0))).toMatchObject({ code: 'participant_paused' })
  }),
)
