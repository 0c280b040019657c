import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import type { Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, range, type Sent } from './client.js'
import { asking, type ServerSentEvent } from './http-client.js'
import { start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message: string): Sent => ({ kind: 'chat', payload: { message } })

const stores: [string, () => Promise<LogStore>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
]

const idOf = ({ data }: ServerSentEvent): string => (JSON.parse(data) as Envelope).id

test.for(stores)(
  'coming back while others write leaves no gap and repeats nothing: %s',
  async ([, openStore]) => {
    const { url, connect } = await start({ participants, store: await openStore() })
    const total = 1000
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

    /** Reconnects until the writer is done, each time like a browser: with the last event id that it received. */
    const restless = async (participant: string): Promise<number[]> => {
      const got: number[] = []
      for (;;) {
        const stream = await asking(url, participant).events('', { 'last-event-id': `${got.at(-1) ?? 0}` })
        let left = isWriting ? 150 : Number.POSITIVE_INFINITY
        const events = await stream.until((event) => --left <= 0 || idOf(event) === `w${total}`)
        got.push(...events.map(({ id }) => Number(id)))
        if (events.some((event) => idOf(event) === `w${total}`)) return got
        stream.leave()
      }
    }
    const results = await Promise.all([restless('bob'), restless('carol'), writing])
    for (const got of results.slice(0, 2)) expect(got).toEqual(range(1, total + 3))
  },
)

describe('a reader that takes too little', () => {
  const large = chat('x'.repeat(200_000))
  const limits = { sendBufferBytes: 256 * 1024 }

  /** Opens a stream and does not read it, while alice sends more than the buffers hold. */
  async function neglected(eventHeartbeatMs: number) {
    const running = await start({ participants, limits, eventHeartbeatMs })
    const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
    const stream = await asking(running.url, 'carol').events()
    // Messages whose bytes exceed the socket buffers of the kernel.
    const total = 100
    for (const count of range(1, total)) {
      alice.send({ id: `m${count}`, ...large })
      // Alice and bob read along, so that only the unread stream is disconnected.
      await Promise.all([alice, bob].map((each) => each.next(byId(`m${count}`))))
    }
    return { ...running, stream, total }
  }

  test('is told so and cut off, nobody waits for it, and it comes back whole', async () => {
    const { url, stream, total, gateway } = await neglected(60_000)
    expect(gateway.report()).toMatchObject([{ metrics: { slowCloses: 1 } }])
    const events = await stream.rest()
    const last = events.pop()
    expect(last?.event).toBe('error')
    expect(JSON.parse(last?.data ?? '')).toMatchObject({ code: 4410 })
    const got = events.map(({ id }) => Number(id))
    expect(got).toEqual(range(got[0] ?? 0, got.at(-1) ?? 0))
    expect(got.length).toBeLessThan(total)
    await expect.poll(() => gateway.report()).toMatchObject([{ connections: 2 }])

    const again = await asking(url, 'carol').events('', { 'last-event-id': `${got.at(-1)}` })
    const rest = await again.until((event) => idOf(event) === `m${total}`)
    expect([...events, ...rest].map(idOf)).toEqual(range(1, total).map((count) => `m${count}`))
  })

  test('is hung up on when it does not take the goodbye either', async () => {
    const { stream, gateway } = await neglected(10)
    await expect
      .poll(() => gateway.report(), { timeout: 10_000 })
      .toMatchObject([{ connections: 2, unsentBytes: 0 }])
    await expect(stream.rest()).rejects.toThrow()
  })

  test('is cut off in a replay, which waits for it and never fills its buffer', async () => {
    const { url, post, gateway } = await start({ participants, eventHeartbeatMs: 10 })
    const ids = range(1, 50)
    for (const round of [1, 2]) {
      await post(
        'alice',
        ids.map((id) => ({ id: `m${round}-${id}`, ...large })),
      )
    }
    const stream = await asking(url, 'carol').events('after=0')
    await expect.poll(() => gateway.report()).toMatchObject([{ connections: 0, unsentBytes: 0 }])
    await expect(stream.rest()).rejects.toThrow()
  })

  test('is not who replays much', async () => {
    const { url, post } = await start({ participants, limits })
    for (const ids of [range(1, 50), range(51, 100)]) {
      await post(
        'alice',
        ids.map((id) => ({ id: `m${id}`, ...large })),
      )
    }
    const stream = await asking(url, 'carol').events('after=2')
    const events = await stream.until((event) => idOf(event) === 'm100')
    expect(events.map(idOf)).toEqual(range(1, 100).map((count) => `m${count}`))
  })
})
