import { closeCodes } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, ofKind, type Sent, said } from './client.js'
import { start } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }
const chat: Sent = { kind: 'chat', payload: { message: 'hello' } }

describe('what is too large', () => {
  const maxEnvelopeBytes = 1000
  /** A frame of exactly this number of bytes. */
  const frame = (bytes: number): string => {
    const empty = JSON.stringify({ id: 'large', kind: 'chat', payload: { message: '' } })
    return JSON.stringify({
      id: 'large',
      kind: 'chat',
      payload: { message: 'x'.repeat(bytes - empty.length) },
    })
  }

  test('up to the limit it is accepted, past it refused, and the connection stays', async () => {
    const { connect } = await start({ participants, limits: { maxEnvelopeBytes } })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    for (const bytes of [maxEnvelopeBytes + 1, 4 * maxEnvelopeBytes]) {
      alice.send(frame(bytes))
      const error = await alice.next(ofKind('system.error'))
      expect(error.payload).toMatchObject({
        code: 'payload_too_large',
        message: expect.stringContaining('1000'),
      })
    }
    alice.send(frame(maxEnvelopeBytes))
    expect(said(await bob.until(byId('large')))).toEqual(['large'])
  })

  test('beyond what a response may have the connection is closed, and nobody else’s', async () => {
    const { connect } = await start({ participants, limits: { maxEnvelopeBytes, maxResultBytes: 4000 } })
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    alice.send(frame(4001))
    expect(await alice.closed).toMatchObject({ code: closeCodes.tooBig })
    const { id } = await bob.accepted(chat)
    expect(said(bob.frames)).toEqual([id])
  })

  test.for<[what: string, start: string, correlationId: string | undefined]>([
    ['its id', '{"id":"large","kind":"chat",', 'large'],
    ['an id in escapes', '{"\\u0069d":"l\\u0061rge","kind":"chat",', 'large'],
    ['none where an id stands deeper', '{"kind":"chat","payload":{"id":"deep"},', undefined],
    ['none where the id is none', '{"id":"no id","kind":"chat",', undefined],
    ['none where there are two', '{"id":"one","id":"two","kind":"chat",', undefined],
  ])('is refused with %s', async ([, start_, correlationId]) => {
    const { connect } = await start({ participants, limits: { maxEnvelopeBytes } })
    const alice = await connect('alice')
    alice.send(`${start_}"context":"${'x'.repeat(1000)}"}`)
    const error = await alice.next(ofKind('system.error'))
    expect(error.payload).toMatchObject({ code: 'payload_too_large' })
    expect(error.correlationId).toBe(correlationId)
  })
})

test.for<[frame: string, code: string]>([
  ['{"kind":"chat","payload":{}}', 'invalid_payload'],
  ['{"kind":"chat","protocol":5}', 'unsupported_protocol'],
  ['{"kind":"system.welcome"}', 'reserved_kind'],
])('%s, which has no id, is refused without one; with one it is named', async ([frame, code]) => {
  const { connect } = await start({ participants })
  const alice = await connect('alice')
  for (const id of [undefined, 'mine']) {
    alice.send(JSON.stringify({ ...JSON.parse(frame), id }))
    const error = await alice.next(ofKind('system.error'))
    expect(error.payload).toMatchObject({ code })
    expect(error.correlationId).toBe(id)
  }
})
