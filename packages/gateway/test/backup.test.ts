import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { backUpLogs, type DraftEntry, type EnvelopeLog, restoreLogs, sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { erasable, needle } from './erasing.js'
import { asking } from './http-client.js'
import { temporaryFile } from './support.js'

function draft(seq: number): DraftEntry {
  const fields = { id: `e${seq}`, ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: 'chat' }
  const content = Buffer.from(JSON.stringify({ protocol: 'meup/v0.3', ...fields, payload: {} }).slice(1))
  return { seq, ...fields, body: Buffer.concat([Buffer.from(`{"seq":${seq},`), content]), content }
}

/** Writes a log with this number of rows, and keeps its store open. */
async function logged(count: number, path = temporaryFile('log.db')) {
  const store = await sqliteStore({ path })
  onTestFinished(() => store.close())
  const log = await store.open('main')
  for (let seq = 1; seq <= count; seq++) await log.append([draft(seq)])
  return { path, store, log }
}

async function readLog(path: string): Promise<{ log: EnvelopeLog; ids: string[] }> {
  const { log } = await logged(0, path)
  return { log, ids: (await log.read({ limit: 10_000 })).map(({ id }) => id) }
}

/** Changes a log file with SQL, after dropping the triggers that forbid it. */
function change(path: string, sql: string): void {
  const db = new Database(path)
  const triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all()
  db.exec(`${triggers.map((name) => `DROP TRIGGER ${name};`).join('')}${sql}`)
  db.close()
}

const filesBeside = (path: string): string[] => readdirSync(dirname(path)).sort()

describe('a backup', () => {
  test('has all that was acknowledged before it began, though more is written meanwhile', async () => {
    const { path, log } = await logged(100)
    let written = 100
    const writing = (async () => {
      while (written < 400) await log.append([draft(++written)])
    })()
    const copies = []
    for (let round = 0; round < 5; round++) {
      await new Promise(setImmediate)
      const [known, copy] = [log.head, temporaryFile('copy.db')]
      copies.push({ known, copy, copied: backUpLogs(path, copy) })
    }
    await writing
    for (const { known, copy, copied } of copies) {
      const place = temporaryFile('log.db')
      const [restored] = restoreLogs(copy, place)
      expect([restored]).toMatchObject(copied)
      const { log: again, ids } = await readLog(place)
      expect(ids.length).toBeGreaterThanOrEqual(known)
      expect(ids).toEqual(ids.map((_, index) => `e${index + 1}`))
      const [last] = await again.read({ limit: 1, order: 'desc' })
      expect(Buffer.from(last?.hash ?? []).toString('hex')).toBe(restored?.hash)
      await again.append([draft(again.head + 1)])
    }
  })

  test('is one file that its owner alone reads, and never in place of another', async () => {
    const { path } = await logged(3)
    const copy = temporaryFile('copy.db')
    backUpLogs(path, copy)
    expect(filesBeside(copy)).toEqual(['copy.db'])
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    const before = readFileSync(copy)
    expect(() => backUpLogs(path, copy)).toThrow(
      expect.objectContaining({ code: 'occupied', details: { path: copy } }),
    )
    expect(readFileSync(copy)).toEqual(before)
  })

  test('of a pruned log begins where that does', async () => {
    const { path, log } = await logged(10)
    await log.prune(4, Buffer.from('{}'))
    const copy = temporaryFile('copy.db')
    expect(backUpLogs(path, copy)).toMatchObject([{ first: 5, head: 10 }])
    expect(restoreLogs(copy, temporaryFile('log.db'))).toMatchObject([{ first: 5, head: 10 }])
  })

  test('has nothing of what was erased, and names it', async () => {
    const path = temporaryFile('log.db')
    const { ana, erase, url } = await erasable({ store: await sqliteStore({ path }) })
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    await asking(url, 'eve').get(`/search?text=${needle}`)
    await erase({ seq, reason: 'a password' })
    const [copy, place] = [temporaryFile('copy.db'), temporaryFile('log.db')]
    backUpLogs(path, copy)
    const erased = [{ seq, by: 'eve', reason: 'a password' }]
    expect(restoreLogs(copy, place)).toMatchObject([{ erased }])
    for (const file of [copy, place]) expect(readFileSync(file, 'latin1')).not.toContain(needle)
    const again = await erasable({ store: await sqliteStore({ path: place }) })
    expect(await asking(again.url, 'eve').json('/audit/verify')).toMatchObject({ ok: true, erased })
  })
})

describe('what is restored', () => {
  const changed = { space: 'main', seq: 4 }
  const damages: [string, (copy: string) => void, details: object][] = [
    [
      'a changed body',
      (copy) =>
        change(copy, `UPDATE envelopes SET body = CAST(replace(body, 'ada', 'eve') AS BLOB) WHERE seq = 4`),
      changed,
    ],
    ['a missing row', (copy) => change(copy, 'DELETE FROM envelopes WHERE seq = 4'), changed],
    [
      'a body that is gone without a record',
      (copy) => change(copy, `UPDATE envelopes SET body = x'', salt = x'', digest = x'' WHERE seq = 4`),
      changed,
    ],
    [
      'a file that breaks off',
      (copy) => truncateSync(copy, statSync(copy).size - 4096),
      { reason: expect.stringContaining('SQLITE_CORRUPT') },
    ],
    [
      'another file',
      (copy) => writeFileSync(copy, 'not a log'.repeat(1000)),
      { reason: expect.stringContaining('SQLITE_NOTADB') },
    ],
  ]
  test.for(damages)('has not %s', async ([, damage, details]) => {
    const { path } = await logged(10)
    const [copy, place] = [temporaryFile('copy.db'), temporaryFile('log.db')]
    backUpLogs(path, copy)
    damage(copy)
    expect(() => restoreLogs(copy, place)).toThrow(expect.objectContaining({ code: 'corrupt', details }))
    expect(filesBeside(place)).toEqual([])
  })

  test('never takes the place of a log, nor of what one has left', async () => {
    const { path, store } = await logged(3)
    const copy = temporaryFile('copy.db')
    backUpLogs(path, copy)
    const occupied = expect.objectContaining({ code: 'occupied' })
    expect(() => restoreLogs(copy, path)).toThrow(occupied)
    await store.close()
    expect((await readLog(path)).ids).toHaveLength(3)

    const place = temporaryFile('log.db')
    writeFileSync(`${place}-wal`, 'what a log that is gone has left')
    expect(() => restoreLogs(copy, place)).toThrow(occupied)
    expect(existsSync(place)).toBe(false)
  })

  test('has no rights but those that its verified rows add up to', async () => {
    const { path, log } = await logged(3)
    await log.keep({ through: 3, format: 'forged', bytes: Buffer.from('{}') })
    const [copy, place] = [temporaryFile('copy.db'), temporaryFile('log.db')]
    backUpLogs(path, copy)
    restoreLogs(copy, place)
    expect(await (await readLog(place)).log.checkpoint()).toBeUndefined()
  })
})
