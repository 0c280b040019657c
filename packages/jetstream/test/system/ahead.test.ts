import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { draft, drafts, openNats, withNats } from '../nats.js'

const everything = { limit: 100 }

/** Locks the file of a replica, so that its gateway cannot write to it until `release`. */
function hold(path: string): { release(): void } {
  const db = new Database(path)
  db.prepare('BEGIN IMMEDIATE').run()
  onTestFinished(() => void db.close())
  return { release: () => void db.prepare('ROLLBACK').run() }
}

test(
  'what the stream has is committed and found before the replica has stored it; whoever reads waits for that',
  withNats(async () => {
    const { store, folder } = await openNats()
    const [log, following] = [
      await (await store('one.db')).open('main'),
      await (await store('two.db')).open('main'),
    ]
    const held = [hold(join(folder, 'one.db')), hold(join(folder, 'two.db'))]
    const grown: number[] = []
    following.shared?.listen({
      onRows: (rows) => grown.push(...rows.map(({ seq }) => seq)),
      onLeaderLost: () => {},
      onPruned: () => {},
      onRequest: () => ({}),
      onNote: () => {},
    })
    for (const seq of [1, 2, 3]) await log.append([draft(seq)])
    await expect.poll(() => grown).toEqual([1, 2, 3])
    await expect(log.append([draft(4, 'e2')])).rejects.toMatchObject({ code: 'duplicate_id' })
    for (const each of [log, following]) {
      expect([each.head, each.find('e2')?.seq]).toEqual([3, 2])
    }
    let isRead = false
    const reading = Promise.all([log.read(everything), following.read(everything)])
    void reading.then(() => {
      isRead = true
    })
    await log.append([draft(4)])
    expect(isRead).toBe(false)
    for (const { release } of held) release()
    const [rows, same] = await reading
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(same).toEqual(rows)
  }),
)

test(
  'a replica that cannot store what the stream has takes nothing more, and has all of it once it can be written',
  withNats(async () => {
    const { store, folder } = await openNats()
    const one = await store('one.db')
    const log = await one.open('main')
    await log.append(drafts(1, 2))
    await log.read(everything)
    const { release } = hold(join(folder, 'one.db'))
    await log.append(drafts(3, 5))
    await expect(log.read(everything)).rejects.toMatchObject({ name: 'LogError', code: 'io' })
    await expect(log.append([draft(6)])).rejects.toMatchObject({ code: 'io' })
    await expect(log.append([draft(7)])).rejects.toMatchObject({ code: 'io' })
    release()
    await log.recover()
    expect(log.head).toBe(6)
    await log.append([draft(7)])
    const rows = await log.read(everything)
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(log.find('e4')?.seq).toBe(4)
    await one.close()
    const again = await (await store('empty.db')).open('main')
    expect(await again.read(everything)).toEqual(rows)
  }),
  30_000,
)
