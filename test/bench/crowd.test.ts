import { afterAll, beforeAll, expect, test } from 'vitest'
import { Crowd, type CrowdOptions } from '../../bench/load/crowd.js'
import type { Connection } from '../../bench/load/line.js'
import { chosen, type Running } from '../../bench/peers/contenders.js'

/** Faults in the delivery of two consecutive messages. */
const faults = {
  none: (one: Buffer, other: Buffer) => [one, other],
  lost: (_: Buffer, other: Buffer) => [other],
  doubled: (one: Buffer, other: Buffer) => [one, one, other],
  reordered: (one: Buffer, other: Buffer) => [other, one],
  replaced: (one: Buffer, _: Buffer) => [one, one],
}
type Fault = keyof typeof faults

let relay: Running | undefined
beforeAll(async () => {
  relay = await chosen(['a'])[0]?.start({ senders: 1, receivers: 3 })
})
afterAll(() => relay?.stop())

/** Bytes of a frame's header. In messages of the load, two of them are the length, because it is above 125. */
const headerBytes = 4
const faultyNumber = 20

/** Changes the frames between the relay and the reader by a fault. */
function disturb({ reader }: Connection, fault: Fault): void {
  const feed = reader.feed.bind(reader)
  let rest = Buffer.alloc(0)
  const frames: Buffer[] = []
  const next = (): Buffer | undefined => {
    if (rest.length < headerBytes) return undefined
    const size = headerBytes + rest.readUInt16BE(2)
    if (rest.length < size) return undefined
    const frame = Buffer.from(rest.subarray(0, size))
    rest = rest.subarray(size)
    return frame
  }
  reader.feed = (chunk, end) => {
    rest = Buffer.concat([rest, chunk.subarray(0, end)])
    const read: Buffer[] = []
    for (let frame = next(); frame !== undefined; frame = next()) {
      frames.push(frame)
      const [one, other] = [frames[faultyNumber], frame]
      if (frames.length === faultyNumber + 2 && one) read.push(...faults[fault](one, other))
      else if (frames.length !== faultyNumber + 1) read.push(frame)
    }
    const all = Buffer.concat(read)
    feed(all, all.length)
  }
}

/** Sends 40 messages to three receivers, with a fault for the first one. */
async function deliver(fault: Fault, options: Pick<CrowdOptions, 'texts' | 'verify'>): Promise<void> {
  if (relay === undefined) throw new Error('there is no relay')
  const crowd = await Crowd.gather(relay, { receivers: 3, senders: 1, size: 300, ...options })
  try {
    const [first] = crowd.receivers
    if (first) disturb(first, fault)
    crowd.senders[0]?.send(40)
    await crowd.drain()
  } finally {
    await crowd.close()
  }
}

test('all messages in their order pass', async () => {
  await deliver('none', { texts: 'prose', verify: true })
  await deliver('none', { texts: 'prose' })
})

test.for(['lost', 'doubled', 'reordered', 'replaced'] as const)(
  'a %s message fails by its number',
  async (fault) => {
    for (const texts of ['prose', 'cut'] as const) {
      await expect(deliver(fault, { texts, verify: true })).rejects.toThrow(/^r0 got \d+ of s0, and not \d+$/)
    }
  },
)

test.for(['doubled', 'reordered', 'replaced'] as const)(
  'a %s message fails without its number',
  async (fault) => {
    await expect(deliver(fault, { texts: 'prose' })).rejects.toThrow(
      /^(40 messages were sent|receivers got the 40)/,
    )
  },
)
