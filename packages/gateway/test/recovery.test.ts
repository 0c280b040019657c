import { type EnvelopeLog, LogError, type LogStore, memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { closeCodes, type Envelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { byId, errorFor, ofKind, presence, range, type Sent, seqs } from './client.js'
import { type StartOptions, start } from './support.js'

const participants = { alice: ['*'], bob: ['*'], carol: ['*'] }
const chat = (message = 'hello'): Sent => ({ kind: 'chat', payload: { message } })

/** A store that fails according to `mode`; `stored` = it writes, but reports a failure. */
function failingDisk(inner: LogStore) {
  const disk = { mode: 'works' as 'works' | 'refuses' | 'stored' | 'unreadable', lost: 0, attempts: 0 }
  const store: LogStore = {
    async open(name) {
      const log = await inner.open(name)
      const faults = {
        async append(batch: Parameters<EnvelopeLog['append']>[0]) {
          if (disk.mode !== 'refuses') await log.append(batch)
          if (disk.mode !== 'works') throw new Error('the disk has failed')
        },
        find(id: string) {
          if (disk.mode === 'unreadable') throw new LogError('io', 'the disk cannot be read', {})
          return log.find(id)
        },
        heading(id: string) {
          if (disk.mode === 'unreadable') throw new LogError('io', 'the disk cannot be read', {})
          return log.heading(id)
        },
        async recover() {
          disk.attempts++
          if (disk.mode !== 'works') throw new Error('the disk still fails')
        },
      }
      const faulty: EnvelopeLog = Object.assign(Object.create(log), faults)
      return Object.defineProperty(faulty, 'head', { get: () => log.head - disk.lost })
    },
    close: () => inner.close(),
  }
  return { store, disk }
}

async function onFailingDisk(options: Partial<StartOptions> = {}) {
  const clock = new FakeClock()
  const errors: { retryMs?: number; err?: Error }[] = []
  const logger = { info: () => {}, warn: () => {}, error: (fields: object) => errors.push(fields) }
  const { store, disk } = failingDisk(memoryStore())
  const running = await start({ participants, store, clock, logger, ...options })
  const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
  const { seq } = await alice.accepted(chat('before'))
  await bob.next(ofKind('chat'))
  /** Advances the clock until `recover` was attempted this number of times. */
  const tried = async (attempts: number) => {
    const oneMore = () => {
      if (disk.attempts < attempts) clock.advance(100)
      return disk.attempts
    }
    await expect.poll(oneMore, { interval: 1, timeout: 10_000 }).toBe(attempts)
  }
  return { ...running, clock, errors, disk, alice, bob, seq, tried }
}

describe('a log that goes on failing', () => {
  test('is tried again ever more seldom, and works again though nobody sends', async () => {
    const { disk, errors, clock, alice, bob, tried } = await onFailingDisk()
    disk.mode = 'refuses'
    const start = clock.now()
    expect(await alice.refused(chat())).toMatchObject({ code: 'unavailable' })
    await tried(9)
    const waits = () => errors.flatMap(({ retryMs }) => retryMs ?? [])
    const expected = [500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000]
    await expect.poll(waits, { timeout: 10_000 }).toEqual(expected)
    const waited = expected.slice(0, 8).reduce((sum, ms) => sum + ms)
    expect(clock.now() - start, 'no sooner and no later').toBe(waited)
    expect(await bob.refused(chat())).toMatchObject({ code: 'unavailable' })

    disk.mode = 'works'
    await tried(10)
    await alice.accepted({ id: 'after', ...chat() })
    await bob.next(byId('after'))
    expect(errors).toHaveLength(1 + expected.length)
  })

  test('begins anew with its patience at the next failure', async () => {
    const { disk, errors, alice, tried } = await onFailingDisk()
    for (const round of [1, 2]) {
      disk.mode = 'refuses'
      await alice.refused(chat())
      await tried(4 * round - 1)
      disk.mode = 'works'
      await tried(4 * round)
      await alice.accepted(chat())
    }
    const waits = errors.flatMap(({ retryMs }) => retryMs ?? [])
    expect(waits).toEqual([500, 1000, 2000, 500, 1000, 2000])
  })

  test('can be read meanwhile: by those who are there, who come, and who ask', async () => {
    const { disk, connect, post, alice, bob, seq, tried } = await onFailingDisk()
    disk.mode = 'refuses'
    alice.send({ id: 'lost', kind: 'reasoning.start' })
    await alice.next(errorFor('lost'))
    await tried(2)
    const carol = await connect('carol', { query: 'after=0' })
    expect(seqs(await carol.until(({ seq: at }) => at === seq))).toEqual(range(1, seq))
    expect(carol.welcome).toMatchObject({ contexts: [], space: { head: seq } })
    expect((await bob.subscribe({})).contexts).toEqual([])
    expect(await carol.refused(chat())).toMatchObject({ code: 'unavailable' })
    expect(await post('bob', chat())).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    await bob.close()

    disk.mode = 'works'
    await tried(3)
    const came = await carol.next(presence('join', 'carol'))
    await carol.accepted(chat())
    const frames: Envelope[] = [...alice.frames]
    expect(frames.filter(presence('join', 'carol'))).toEqual([came])
    expect(frames.filter(presence('leave', 'bob'))).toHaveLength(1)
    expect(seqs(carol.frames.filter(({ seq: at }) => at !== undefined))).toEqual(
      range(1, (came.seq ?? 0) + 1),
    )
  })

  test('does not keep the gateway from stopping', async () => {
    const { disk, alice, clock, close, tried } = await onFailingDisk()
    disk.mode = 'refuses'
    await alice.refused(chat())
    await tried(3)
    await close()
    expect(await alice.closed).toMatchObject({ code: closeCodes.draining })
    clock.advance(60_000)
    expect(disk.attempts).toBe(3)
  })

  test('and has lost what was acknowledged takes nothing more', async () => {
    const { disk, errors, alice, tried } = await onFailingDisk()
    disk.mode = 'refuses'
    await alice.refused(chat())
    disk.mode = 'works'
    disk.lost = 1
    await tried(3)
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBe(4)
    expect(errors[3]?.err).toMatchObject({ code: 'corrupt', details: { acknowledged: expect.any(Number) } })
    expect(await alice.refused(chat())).toMatchObject({ code: 'unavailable' })
  })
})

test('a log that cannot be asked for an id refuses the envelope, and nothing else happens', async () => {
  const { disk, alice, bob, seq } = await onFailingDisk()
  disk.mode = 'unreadable'
  expect(await alice.refused({ id: 'one', ...chat() })).toMatchObject({ code: 'unavailable' })
  disk.mode = 'works'
  expect(await alice.accepted({ id: 'one', ...chat() })).toMatchObject({ seq: seq + 1 })
  await bob.next(byId('one'))
})

test('what was stored, though its commit seemed to fail, is delivered when the log is tried again', async () => {
  const { disk, connect, alice, bob, seq, tried } = await onFailingDisk()
  disk.mode = 'stored'
  alice.send({ id: 'run', kind: 'reasoning.start' })
  await alice.next(errorFor('run'))
  await tried(2)
  expect(bob.frames.some(byId('run'))).toBe(false)
  disk.mode = 'works'
  await tried(3)
  for (const client of [alice, bob]) expect(await client.next(byId('run'))).toMatchObject({ seq: seq + 1 })
  expect((await bob.subscribe({})).contexts).toMatchObject([{ context: 'run', owner: 'alice' }])
  expect(await alice.accepted({ id: 'run', kind: 'reasoning.start' })).toMatchObject({ seq: seq + 1 })
  expect(await bob.accepted(chat())).toMatchObject({ seq: seq + 2 })
  const carol = await connect('carol', { query: 'after=0' })
  expect(seqs(await carol.until(presence('join', 'carol')))).toEqual(range(1, seq + 3))
})
