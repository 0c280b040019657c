import { type DraftEntry, sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from './support.js'

function drafts(from: number, to: number): DraftEntry[] {
  return Array.from({ length: to - from + 1 }, (_, i) => {
    const body = Buffer.from(`"id":"e${from + i}"}`)
    const ts = '2026-05-04T03:02:01.000Z'
    return { seq: from + i, id: `e${from + i}`, ts, from: 'ada', kind: 'chat', body, content: body }
  })
}

async function filled(rows: number) {
  const path = temporaryFile('log.db')
  const store = await sqliteStore({ path })
  const log = await store.open('main')
  await log.append(drafts(1, rows))
  const db = new Database(path)
  onTestFinished(async () => {
    db.close()
    await store.close()
  })
  const stored = db.prepare<[], number[]>('SELECT count(*), min(seq), max(seq) FROM envelopes').raw()
  return { path, store, log, db, stored: () => stored.get() ?? [] }
}

const state = Buffer.from('state')
const patient = { timeout: 10_000 }

describe('pruning in SQLite', () => {
  test('is whole at once, and takes the rows out of the file bit by bit, between appends', async () => {
    const { log, db, stored } = await filled(5000)
    db.exec(`
      CREATE TABLE history (event TEXT, seq INTEGER);
      CREATE TRIGGER removed AFTER DELETE ON envelopes BEGIN INSERT INTO history VALUES ('removed', OLD.seq); END;
      CREATE TRIGGER added AFTER INSERT ON envelopes BEGIN INSERT INTO history VALUES ('added', NEW.seq); END;
    `)
    const pruned = log.prune(4500, state)
    const appended = log.append(drafts(5001, 5002))
    await pruned
    expect(await log.read({ limit: 1 })).toMatchObject([{ seq: 4501 }])
    await appended
    await expect.poll(stored, patient).toEqual([502, 4501, 5002])
    const history = db.prepare<[], string>('SELECT event FROM history ORDER BY rowid').pluck().all()
    expect(history.indexOf('added'), 'an append does not wait for all of it').toBeLessThan(4500)
    const records = db.prepare('SELECT through, length(hash), CAST(snapshot AS TEXT), at FROM pruned').raw()
    expect(records.all()).toEqual([[4500, 32, 'state', expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/)]])
  })

  test('lets nobody delete what is not pruned, the newest row, or the record of it', async () => {
    const { log, db, stored } = await filled(9)
    await log.prune(4, state)
    await expect.poll(stored, patient).toEqual([5, 5, 9])
    for (const statement of [
      'DELETE FROM envelopes WHERE seq = 5',
      'DELETE FROM envelopes',
      `UPDATE envelopes SET "from" = 'eve' WHERE seq = 5`,
      'UPDATE pruned SET through = 3',
      'UPDATE pruned SET through = 4, snapshot = NULL',
      'UPDATE pruned SET space = 7, through = 5',
      'DELETE FROM pruned',
    ]) {
      expect(() => db.exec(statement), statement).toThrow(/append-only/)
    }
    db.exec('UPDATE pruned SET through = 99')
    expect(() => db.exec('DELETE FROM envelopes WHERE seq = 9'), 'the end of the chain').toThrow(
      /append-only/,
    )
    expect(stored()).toEqual([5, 5, 9])
  })

  test('that fails changes nothing, and can be done again', async () => {
    const { log, db, stored } = await filled(9)
    db.exec("CREATE TRIGGER no BEFORE INSERT ON pruned BEGIN SELECT RAISE(ABORT, 'no'); END")
    await expect(log.prune(4, state)).rejects.toMatchObject({ name: 'LogError', code: 'io' })
    expect([log.oldest, log.snapshot]).toEqual([1, undefined])
    expect(await log.read({ limit: 99 })).toHaveLength(9)
    await log.append(drafts(10, 10))
    expect(stored()).toEqual([10, 1, 10])
    db.exec('DROP TRIGGER no')
    await log.prune(4, state)
    await expect.poll(stored, patient).toEqual([6, 5, 10])
  })

  test('whose rows cannot be removed hides them, harms nobody, and is completed after the next start', async () => {
    const { path, store, log, db, stored } = await filled(3000)
    db.exec("CREATE TRIGGER no BEFORE DELETE ON envelopes BEGIN SELECT RAISE(ABORT, 'no'); END")
    await log.prune(2999, state)
    for (let seq = 3001; seq <= 3005; seq++) await log.append(drafts(seq, seq))
    expect(await log.read({ limit: 1 })).toMatchObject([{ seq: 3000 }])
    expect(stored()).toEqual([3005, 1, 3005])
    await store.close()
    db.exec('DROP TRIGGER no')
    const again = await sqliteStore({ path }) // Pruned rows are removed even if no space is opened.
    onTestFinished(() => again.close())
    await expect.poll(stored, patient).toEqual([6, 3000, 3005])
  })
})
