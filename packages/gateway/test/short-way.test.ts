import { statSync } from 'node:fs'
import { type DraftEntry, type EnvelopeLog, sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { genesis, hashLeaf, link } from '../src/log/chain.js'
import { InlineWriter } from '../src/storage/sqlite/sqlite-log.js'
import { temporaryFile } from './support.js'

function drafts(from: number, count = 1): DraftEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const body = Buffer.from(`"id":"e${from + i}"}`)
    const ts = '2026-05-04T03:02:01.000Z'
    return { seq: from + i, id: `e${from + i}`, ts, from: 'ada', kind: 'chat', body, content: body }
  })
}

async function opened() {
  const path = temporaryFile('log.db')
  const store = await sqliteStore({ path })
  onTestFinished(() => store.close())
  return { path, store, log: await store.open('main') }
}

async function expectChain(log: EnvelopeLog, length: number): Promise<void> {
  const rows = await log.read({ limit: length + 1 })
  expect(rows.length).toBe(length)
  let before: Uint8Array = genesis(log.epoch)
  for (const [index, { seq, salt, body, leaf, hash }] of rows.entries()) {
    expect(seq).toBe(index + 1)
    expect(Buffer.from(leaf)).toEqual(hashLeaf(salt, body))
    expect(Buffer.from(hash)).toEqual(link(before, seq, leaf))
    before = hash
  }
}

/** Numbers of rows of the appended batches, small and large. */
const sizes = [1, 1, 20, 2, 1, 300, 16, 17, 1, 1, 64, 3]

describe('appending without another thread', () => {
  test('goes on with the chain where others left it, in each space', async () => {
    const { store, log } = await opened()
    const other = await store.open('other')
    let end = 0
    for (const size of sizes) {
      const batch = drafts(end + 1, size)
      await Promise.all([log.append(batch), other.append(batch)])
      end += size
      await other.append(drafts(end + 1))
      await log.append(drafts(end + 1))
      end++
    }
    await expectChain(log, end)
    await expectChain(other, end)
  })

  test('waits for nobody who writes: then it takes its time on another thread', async () => {
    const { path, log } = await opened()
    await log.append(drafts(1))
    const holder = new Database(path)
    onTestFinished(() => void holder.close())
    holder.exec('BEGIN IMMEDIATE')
    let isDone = false
    const appended = log.append(drafts(2)).then(() => {
      isDone = true
    })
    // The append waits for the write lock of `holder` without blocking this thread: turns of the event loop pass.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect([isDone, log.head]).toEqual([false, 1])
    holder.exec('COMMIT')
    await appended
    await log.append(drafts(3))
    await expectChain(log, 3)
  })

  test('is seen by what the thread that writes does next', async () => {
    const { log } = await opened()
    await log.append(drafts(1, 100))
    for (let seq = 101; seq <= 110; seq++) await log.append(drafts(seq))
    await log.keep({ through: 110, format: 'test', bytes: Buffer.from('all') })
    expect(await log.checkpoint()).toMatchObject({ through: 110 })
    await log.prune(109, Buffer.from('state'))
    await log.append(drafts(111))
    expect((await log.read({ limit: 9 })).map(({ seq }) => seq)).toEqual([110, 111])
  })

  test('refuses what is not next, and what is there already, and leaves nothing of it', async () => {
    const { log } = await opened()
    await log.append(drafts(1, 2))
    await expect(log.append(drafts(4))).rejects.toMatchObject({ code: 'gap' })
    const [again] = drafts(1)
    const repeated = [...drafts(3), { ...again, seq: 4 } as DraftEntry]
    await expect(log.append(repeated)).rejects.toMatchObject({ code: 'duplicate_id' })
    expect(log.find('e3')).toBeUndefined()
    await log.append(drafts(3))
    await expectChain(log, 3)
  })

  test('folds the write-ahead log into the file while it goes on', async () => {
    const { path, log } = await opened()
    const body = Buffer.alloc(64_000, 'x')
    let longest = 0
    for (let seq = 1; seq <= 2400; seq += 8) {
      await log.append(drafts(seq, 8).map((draft) => ({ ...draft, body, content: body })))
      await new Promise((resolve) => setImmediate(resolve))
      longest = Math.max(longest, statSync(`${path}-wal`).size)
    }
    expect(log.head).toBe(2400)
    // Without checkpoints, the write-ahead log would exceed 150 MB.
    expect(longest).toBeLessThan(110_000_000)
    expect(statSync(path).size).toBeGreaterThan(50_000_000)
  }, 60_000)

  test('keeps a batch waiting for the write-ahead log only where no moment without a commit came', async () => {
    const { path } = await opened()
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1000)
    onTestFinished(() => clock.mockRestore())
    const folds: ((isWhole: boolean) => void)[] = []
    const writer = new InlineWriter(path, () => new Promise((resolve) => void folds.push(resolve)))
    onTestFinished(() => writer.close())
    const body = Buffer.alloc(1024 * 1024, 'x')
    let seq = 0
    const append = (count: number): void => {
      for (let left = count; left > 0; left--)
        expect(
          writer.append(
            1,
            drafts(++seq).map((draft) => ({ ...draft, body, content: body })),
          ),
        ).toBe(true)
    }
    const answer = async (isWhole: boolean): Promise<void> => {
      folds.shift()?.(isWhole)
      await new Promise((resolve) => setImmediate(resolve))
      clock.mockReturnValue(performance.now() + 1000) // The next attempt is due.
    }

    append(15)
    expect(folds.length).toBe(0)
    append(1)
    expect(folds.length).toBe(1)
    await answer(true) // No commit in the meantime: the write-ahead log starts again.
    append(15)
    expect([folds.length, writer.rest()]).toEqual([0, undefined])
    append(1)
    expect(folds.length).toBe(1)
    append(1)
    await answer(true) // A commit in the meantime: the write-ahead log grows, and the checkpoint is repeated.
    append(1)
    expect([folds.length, writer.rest()]).toEqual([1, undefined])
    append(14)
    const rest = writer.rest()
    expect([rest === undefined, folds.length]).toEqual([false, 1])
    await answer(false)
    await answer(true)
    await rest
    expect(writer.rest()).toBeUndefined()
  })

  test('is whole after much of it, and a restart', async () => {
    const { path, store, log } = await opened()
    const filler = 'x'.repeat(12_000)
    for (let seq = 1; seq <= 900; seq++) {
      const body = Buffer.from(`"id":"e${seq}","filler":"${filler}"}`)
      await log.append(drafts(seq).map((draft) => ({ ...draft, body, content: body })))
    }
    await store.close()
    const again = await sqliteStore({ path })
    onTestFinished(() => again.close())
    await expectChain(await again.open('main'), 900)
  })
})
