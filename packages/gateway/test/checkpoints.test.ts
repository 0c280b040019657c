import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type EnvelopeLog, type Logger, memoryStore, sqliteStore } from '@meup/gateway'
import { createTestDraft, randomDrafts } from '@meup/gateway/testing'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Checkpoints } from '../src/core/checkpoints.js'
import type { Delivery } from '../src/core/delivery/broadcast.js'
import { replayFromCheckpoint, replayLog } from '../src/core/replay.js'
import type { Space } from '../src/core/space.js'
import { SpaceState } from '../src/core/state/state.js'
import { silent } from '../src/ports/logger.js'
import { errorFor } from './client.js'
import { faultyDisk } from './faulty-disk.js'
import { start, temporaryFile } from './support.js'

const participants = { alice: ['*'], bob: ['*'] }
const textOf = (state: SpaceState): string => Buffer.from(state.toSnapshot()).toString()
const length = 600

async function kept(log: EnvelopeLog) {
  const checkpoint = await log.checkpoint()
  if (checkpoint === undefined || checkpoint === 'damaged') throw new Error(`it is ${checkpoint}`)
  return checkpoint
}

/** A log with a checkpoint at row 500. `reads`: the `after` of each query that reads the log. */
async function logged() {
  const path = temporaryFile('log.db')
  const store = await sqliteStore({ path })
  onTestFinished(() => store.close())
  const log = await store.open('main')
  await log.append(randomDrafts(7, length))
  const bytes = (await replayLog(log, 500)).toSnapshot()
  await log.keep({ through: 500, format: SpaceState.format, bytes })
  const reads: (number | undefined)[] = []
  const read: EnvelopeLog['read'] = (query) => {
    reads.push(query.after)
    return log.read(query)
  }
  const watched = Object.assign(Object.create(log) as EnvelopeLog, { read })
  const received: object[] = []
  const logger: Logger = { ...silent, warn: (fields) => received.push(fields) }
  return { path, log, watched, reads, received, resumed: () => replayFromCheckpoint(watched, 'main', logger) }
}

describe('a start with a checkpoint', () => {
  test('reads the rest of the log alone, and comes to the same state', async () => {
    const { log, reads, received, resumed } = await logged()
    const state = await resumed()
    expect(reads).toEqual([500])
    expect(received).toEqual([])
    expect(textOf(state)).toBe(textOf(await replayLog(log)))
    expect(state.seq).toBe(length)
  })

  test.each([
    ['its bytes', "UPDATE checkpoints SET bytes = CAST(replace(CAST(bytes AS TEXT), 'ana', 'eve') AS BLOB)"],
    ['its place', 'UPDATE checkpoints SET through = through - 1'],
    ['its format', "UPDATE checkpoints SET format = 'state 0'"],
    ['its digest', "UPDATE checkpoints SET digest = x'00'"],
    ['the log', "UPDATE spaces SET epoch = 'another'"],
  ])('that was damaged in %s reads all of the log, and says so', async (_, damage) => {
    const { path, log, reads, received, resumed } = await logged()
    const db = new Database(path)
    expect(db.exec(damage) && db.prepare('SELECT total_changes()').pluck().get()).toBeGreaterThan(0)
    db.close()
    const state = await resumed()
    expect(reads[0]).toBe(0)
    expect(received).toEqual([{ space: 'main', reason: expect.stringContaining('damaged') }])
    expect(textOf(state)).toBe(textOf(await replayLog(log)))
  })

  test.each([
    ['of another version', { format: 'state 1000', through: 550 }, 'format is state 1000'],
    ['of rows that are gone', { through: length + 1 }, `the log ends at ${length}`],
  ])('%s reads all of the log, and says so', async (_, changed, reason) => {
    const { log, watched, reads, received, resumed } = await logged()
    Object.assign(watched, { checkpoint: async () => ({ ...(await kept(log)), ...changed }) })
    expect(textOf(await resumed())).toBe(textOf(await replayLog(log)))
    expect(reads[0]).toBe(0)
    expect(received).toEqual([{ space: 'main', reason: expect.stringContaining(reason) }])
  })

  test('goes by what stands for pruned rows where that is newer', async () => {
    const { log, reads, resumed } = await logged()
    const whole = textOf(await replayLog(log))
    await log.prune(550, (await replayLog(log, 550)).toSnapshot())
    expect(textOf(await resumed())).toBe(whole)
    expect(reads).toEqual([550])
  })
})

describe('a gateway', () => {
  test('keeps a checkpoint at a clean stop: that of the whole log', async () => {
    const spaces = new Map()
    const running = await start({ participants, store: memoryStore(spaces) })
    const [alice, bob] = [await running.connect('alice'), await running.connect('bob')]
    await alice.accepted({ id: 'run', kind: 'reasoning.start', payload: { message: 'hm' } })
    await bob.accepted({ kind: 'chat', payload: { message: 'hello' } })
    await running.close()
    const log = await memoryStore(spaces).open('test')
    const { through, bytes } = await kept(log)
    expect(through).toBe(log.head)
    expect(Buffer.from(bytes).toString()).toBe(textOf(await replayLog(log)))

    const again = await start({ participants, store: memoryStore(spaces) })
    const { welcome } = await again.connect('bob')
    expect(welcome.contexts).toMatchObject([{ context: 'run', owner: 'alice' }])
  })

  test('keeps one from time to time, of no more than the log has', async () => {
    const spaces = new Map()
    const many = 25_000
    const filled = await memoryStore(spaces).open('test')
    const chat = (seq: number) =>
      createTestDraft(seq, { from: 'alice', kind: 'chat', payload: { message: `${seq}` } })
    await filled.append(Array.from({ length: many }, (_, index) => chat(index + 1)))
    const { connect } = await start({ participants, store: memoryStore(spaces) })
    await connect('alice')
    await expect.poll(() => filled.checkpoint()).toMatchObject({ format: SpaceState.format })
    const { through, bytes } = await kept(filled)
    expect(through).toBeGreaterThan(many)
    expect(Buffer.from(bytes).toString()).toBe(textOf(await replayLog(filled, through)))
  })

  test('keeps none of what the log refused, and one of all that it took after', async () => {
    const spaces = new Map()
    const { store, stall } = faultyDisk(memoryStore(spaces))
    const running = await start({ participants, store })
    const alice = await running.connect('alice')
    const { appending, fail } = stall()
    alice.send({ id: 'lost', kind: 'reasoning.start' })
    await appending
    fail()
    await alice.next(errorFor('lost'))
    await alice.accepted({ id: 'taken', kind: 'reasoning.start' })
    await running.close()
    const log = await memoryStore(spaces).open('test')
    const { through, bytes } = await kept(log)
    expect(through).toBe(log.head)
    expect(Buffer.from(bytes).toString()).toBe(textOf(await replayLog(log)))
    expect(SpaceState.from(bytes).contexts.get('lost')).toBeUndefined()
  })

  test('that cannot keep one says so, and stops as ever', async () => {
    const received: string[] = []
    const inner = memoryStore()
    const keep = () => Promise.reject(new Error('the disk is full'))
    const store = {
      ...inner,
      open: async (name: string) =>
        Object.assign(Object.create(await inner.open(name)) as EnvelopeLog, { keep }),
    }
    const logger = { ...silent, warn: (_: object, message: string) => received.push(message) }
    const running = await start({ participants, store, logger })
    await running.close()
    expect(received).toEqual([expect.stringContaining('no checkpoint could be kept')])
  })
})

test('a checkpoint that was kept survives kill -9, whole', async () => {
  const path = temporaryFile('log.db')
  const script = fileURLToPath(new URL('./fixtures/keep-until-killed.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  let [acknowledged, lines] = [0, 0]
  for await (const line of createInterface(child.stdout)) {
    acknowledged = Number(line)
    if (++lines === 30) child.kill('SIGKILL')
  }
  await ended
  const store = await sqliteStore({ path })
  onTestFinished(() => store.close())
  const { through, bytes } = await kept(await store.open('main'))
  expect(through).toBeGreaterThanOrEqual(acknowledged)
  expect(Buffer.from(bytes).toString()).toMatch(new RegExp(`^state at ${through} x{300000}$`))
})

test('a checkpoint is due as well where much that fell would have to be found out again', async () => {
  const kept: number[] = []
  const state = { seq: 0, trust: { work: 0 }, toSnapshot: () => new Uint8Array(10) }
  const space = {
    state,
    delivered: 0,
    logger: silent,
    config: { name: 'test' },
    committed: async () => true,
    log: { keep: async ({ through }: { through: number }) => void kept.push(through) },
  }
  const checkpoints = new Checkpoints(space as unknown as Space)
  for (const work of [600_000, 1_200_000, 1_800_000, 2_400_000]) {
    space.delivered = state.seq += 10
    state.trust.work = work
    checkpoints.delivered([{ entry: { body: new Uint8Array(100) } }] as unknown as Delivery[])
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(kept).toEqual([20, 40])
})
