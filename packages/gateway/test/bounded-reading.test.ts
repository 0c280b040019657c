import { type ConnectionGrant, type EnvelopeLog, type Feed, type LogStore, memoryStore } from '@meup/gateway'
import { createTestGateway, FakeClock, type TestSpaceOptions, testToken } from '@meup/gateway/testing'
import { defaultRates } from '@meup/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSelection } from '../src/core/delivery/session.js'
import { watched } from './audit-export.js'
import { range } from './client.js'

const participants = { ana: ['*'], ben: ['*'] }
const tail = Number.MAX_SAFE_INTEGER

/** A log whose rows ben may not read, and ana only if `to` is `ana`. Each row correlates to `answered` ids. */
async function logged(rows: number, answered: number, to = 'zed'): Promise<LogStore> {
  const store = memoryStore()
  const log = await store.open('test')
  await log.append(
    range(1, rows).map((seq) => {
      const correlationId = range(1, answered).map((at) => `a${at}`)
      const fields = {
        ...{ id: `e${seq}`, ts: '2026-01-02T03:04:05.678Z', from: 'zed', to: [to], kind: 'x.y' },
        ...(answered > 0 && { correlationId }),
      }
      const body = Buffer.from(JSON.stringify({ protocol: 'meup/v0.3', ...fields, payload: {} }))
      return { seq, ...fields, body, content: body }
    }),
  )
  return store
}

/** A gateway on a log with this many rows. Reports each read once the gateway is open. */
async function served(
  rows: number,
  {
    answered = 0,
    to,
    ...options
  }: Partial<TestSpaceOptions> & { clock?: FakeClock; answered?: number; to?: string } = {},
) {
  let reading: (log: EnvelopeLog) => unknown = () => {}
  const store = watched(await logged(rows, answered, to), (_, log) => reading(log))
  const gateway = await createTestGateway({ participants, store, ...options })
  onTestFinished(() => gateway.close())
  const admit = (participant: string) =>
    gateway.admit({ space: 'test', token: testToken(participant), remote: 'here' })
  return {
    gateway,
    admit,
    grant: async (participant: string) => (await admit(participant)) as ConnectionGrant,
    onRead: (received: typeof reading) => {
      reading = received
    },
  }
}

class Peer implements Feed {
  readonly remote = 'here'
  readonly pending = 0
  isGone = false
  readonly welcomed: Promise<void>
  #welcomed = (): void => {}

  constructor() {
    this.welcomed = new Promise((resolve) => {
      this.#welcomed = resolve
    })
  }

  send(): void {
    this.#welcomed()
  }

  drained(): Promise<void> {
    return Promise.resolve()
  }

  lost(): void {}

  close(): void {
    this.isGone = true
  }
}

/** Waits for more turns of the event loop than the reads in memory need. */
async function turns(count = 200): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe('reading the log', () => {
  test.for([{ tail }, { after: 0 }])('ends when the connection is gone: %o', async (resume) => {
    const { grant, onRead } = await served(20_000)
    const peer = new Peer()
    let reads = 0
    onRead(() => {
      reads++
      peer.isGone = reads === 3
    })
    await (await grant('ana')).open(peer, resume)
    await turns()
    expect(reads).toBe(3)
  })

  test('is done for a connection that counts', async () => {
    const { grant, admit, onRead, gateway } = await served(1000, {
      limits: { connectionsPerParticipant: 2 },
    })
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    onRead(() => held)
    const peers = [new Peer(), new Peer()]
    for (const peer of peers) void (await grant('ana')).open(peer, { tail })
    expect(gateway.report()).toMatchObject([{ connections: 2 }])
    expect(await admit('ana')).toMatchObject({ code: 'rate_limited' })
    goOn()
    await Promise.all(peers.map(({ welcomed }) => welcomed))
  })

  test('is done for at most four slices of one participant at once, and others do not wait for them', async () => {
    const { grant, onRead } = await served(2000)
    let [underWay, maximum] = [0, 0]
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    onRead(async () => {
      maximum = Math.max(maximum, ++underWay)
      await held
      underWay--
    })
    const peers = range(1, 7).map(() => new Peer())
    for (const peer of peers) void (await grant('ana')).open(peer, { tail })
    await turns()
    expect(underWay).toBe(4)
    const other = new Peer()
    void (await grant('ben')).open(other, { tail })
    await turns()
    expect(underWay).toBe(5)
    goOn()
    await Promise.all([...peers, other].map(({ welcomed }) => welcomed))
    expect(maximum).toBe(5)
  })

  test('costs work: who has used it up goes on as it comes back, and others do not wait for that', async () => {
    const clock = new FakeClock()
    const work = { perSecond: 1000, burst: 2000 }
    const { grant, onRead } = await served(10_000, { clock, limits: { rates: { ...defaultRates, work } } })
    let reads = 0
    onRead(() => reads++)
    const [peer, other] = [new Peer(), new Peer()]
    void (await grant('ana')).open(peer, { tail })
    await turns()
    const before = reads
    expect(before).toBeLessThan(10)
    await turns()
    expect(reads).toBe(before)
    void (await grant('ben')).open(other, { tail: 1 })
    await turns()
    expect(reads).toBeGreaterThan(before)
    const between = reads
    clock.advance(1000)
    await turns()
    expect(reads).toBeGreaterThan(between)
    while (reads < 2 * between) {
      clock.advance(1000)
      await turns(20)
    }
  })

  test.for([
    ['a socket', 20, 40],
    ['a stream of events', 2, 5],
  ] as const)('costs of %s what it takes', async ([name, minimum, maximum]) => {
    const clock = new FakeClock()
    const limits = { rates: { ...defaultRates, work: { perSecond: 1000, burst: 6000 } } }
    const { grant, onRead } = await served(10_000, { clock, limits })
    const { open, watch } = await grant('ana')
    if (name === 'a socket') void open(new Peer(), { after: 0 })
    else await watch(new Peer(), { after: 0 }, createSelection({}, 'full'))
    await turns(1000)
    let reads = 0
    onRead(() => reads++)
    for (const _ of range(1, 10)) {
      clock.advance(1000)
      await turns(20)
    }
    expect(reads).toBeGreaterThanOrEqual(minimum)
    expect(reads).toBeLessThanOrEqual(maximum)
  })

  test('costs more of what answers many others', async () => {
    const clock = new FakeClock()
    const work = { perSecond: 1000, burst: 2000 }
    const limits = { rates: { ...defaultRates, work } }
    for (const [answered, expected] of [
      [1, 10],
      [16, 3],
    ] as const) {
      const { grant, onRead } = await served(10_000, { clock, limits, answered, to: 'ana' })
      let reads = 0
      onRead(() => reads++)
      void (await grant('ana')).open(new Peer(), { after: 0 })
      for (const _ of range(1, 10)) {
        await turns(20)
        clock.advance(1000)
      }
      await turns()
      expect(Math.min(reads, 10)).toBe(expected)
    }
  })
})
