import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type DraftEntry, type EnvelopeLog, type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { describeEnvelopeLog } from '@meup/gateway/testing'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isSoak } from '../../../test/support/soak.js'
import { restartable } from './stores.js'

describeEnvelopeLog(
  'memory log',
  async () => {
    const spaces = new Map()
    return restartable(async () => memoryStore(spaces))
  },
  { describe, test },
)

for (const durability of isSoak ? (['process', 'power'] as const) : (['process'] as const)) {
  describeEnvelopeLog(
    `sqlite log, durability ${durability}`,
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'meup-log-'))
      const opened = await restartable(() => sqliteStore({ path: join(directory, 'log.db'), durability }))
      const dispose = async () => {
        await opened.dispose()
        rmSync(directory, { recursive: true })
      }
      return { ...opened, dispose }
    },
    { describe, test },
  )
}

describe('sqlite log file', () => {
  let directory: string
  let path: string
  const stores: LogStore[] = []

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'meup-log-'))
    path = join(directory, 'data', 'gateway', 'log.db')
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
    rmSync(directory, { recursive: true })
  })

  async function open(): Promise<{ store: LogStore; log: EnvelopeLog }> {
    const store = await sqliteStore({ path })
    stores.push(store)
    return { store, log: await store.open('main') }
  }

  async function closed(rows: number): Promise<void> {
    const { store, log } = await open()
    await log.append(drafts(1, rows))
    await store.close()
  }

  test('is made with its directory, and is nobody else’s to read', async () => {
    const { log } = await open()
    await log.append(drafts(1, 3))
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
      expect(statSync(file).mode & 0o777, file).toBe(0o600)
    }
    expect(statSync(join(directory, 'data')).mode & 0o777).toBe(0o700)
  })

  test('refuses UPDATE, DELETE and REPLACE of an envelope, whoever asks', async () => {
    await closed(2)
    const db = new Database(path)
    const [at, id] = ['seq', 'id'].map(
      (key) =>
        `SELECT space, ${key === 'seq' ? 'seq' : 'seq + 7'}, ${key === 'id' ? 'id' : "'other'"}, ts, 'eve', kind, "to",
        context, correlationId, body, salt, leaf, hash, digest FROM envelopes`,
    )
    for (const how of ['INSERT OR REPLACE', 'REPLACE', 'INSERT OR IGNORE']) {
      for (const rows of [at, id, `${id} WHERE seq = 1`]) {
        expect(() => db.exec(`${how} INTO envelopes ${rows}`), rows).toThrow(/append-only/)
      }
    }
    expect(() => db.exec("UPDATE OR REPLACE envelopes SET id = 'e2' WHERE seq = 1")).toThrow(/append-only/)
    expect(() => db.exec(`UPDATE envelopes SET "from" = 'eve' WHERE seq = 1`)).toThrow(/append-only/)
    expect(() => db.exec('DELETE FROM envelopes WHERE seq = 1')).toThrow(/append-only/)
    expect(() => db.exec('DELETE FROM envelopes')).toThrow(/append-only/)
    expect(db.prepare('SELECT seq, "from" FROM envelopes ORDER BY seq').raw().all()).toEqual([
      [1, 'ada'],
      [2, 'ada'],
    ])
    db.close()
  })

  test('can be read by any SQLite: one row per envelope, lists as JSON', async () => {
    const { store, log } = await open()
    await log.append([{ ...draft(1), to: ['a', 'b'], context: 'run', correlationId: 'x' }, draft(2)])
    await store.close()
    const db = new Database(path, { readonly: true })
    const rows = db.prepare(
      'SELECT name, seq, "to", context, correlationId FROM envelopes JOIN spaces ON space = spaces.id',
    )
    expect(rows.raw().all()).toEqual([
      ['main', 1, '["a","b"]', 'run', '"x"'],
      ['main', 2, null, null, null],
    ])
    db.close()
  })

  test('of a newer version is refused and left as it is', async () => {
    await closed(1)
    const db = new Database(path)
    db.pragma('user_version = 1000')
    db.close()
    const before = readFileSync(path)
    await expect(open()).rejects.toMatchObject({ name: 'LogError', code: 'format' })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('that is no log is refused and left as it is', async () => {
    await closed(1)
    const garbage = 'not a database at all, but long enough to be taken for one. '.repeat(100)
    writeFileSync(path, garbage)
    await expect(open()).rejects.toMatchObject({ name: 'LogError', code: 'corrupt' })
    expect(readFileSync(path, 'utf8')).toBe(garbage)

    rmSync(path)
    const db = new Database(path)
    db.exec('CREATE TABLE recipes (name TEXT)')
    db.close()
    const before = readFileSync(path)
    await expect(open()).rejects.toMatchObject({ name: 'LogError', code: 'corrupt' })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('that cannot be made is an error that names it', async () => {
    writeFileSync(join(directory, 'data'), 'a file where the directory should be')
    await expect(open()).rejects.toMatchObject({
      name: 'LogError',
      code: 'io',
      details: expect.objectContaining({ reason: expect.stringContaining('data') }),
    })
  })

  test('is one store’s at a time', async () => {
    const { store } = await open()
    await expect(open()).rejects.toMatchObject({ name: 'LogError', code: 'locked' })
    await store.close()
    await open()
  })

  test('is written while the thread that appends does nothing but wait', async () => {
    const { log } = await open()
    const appended = log.append(drafts(1, 50))
    const db = new Database(path, { readonly: true })
    const count = db.prepare<[], number>('SELECT count(*) FROM envelopes').pluck()
    const clock = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 0; count.get() === 0 && tries < 10_000; tries++) Atomics.wait(clock, 0, 0, 1)
    expect(count.get()).toBe(50)
    expect(log.head).toBe(0)
    expect(log.find('e1'), 'committed, but not acknowledged').toBeUndefined()
    db.close()
    await appended
    expect(log.head).toBe(50)
  })

  test('can be checkpointed once the turn that looked up an id is over', async () => {
    const { log } = await open()
    await log.append(drafts(1, 3))
    for (const id of ['e1', 'e2']) expect(log.find(id)?.id).toBe(id)
    const db = new Database(path, { timeout: 0 })
    const checkpoint = () => db.pragma('wal_checkpoint(TRUNCATE)')
    expect(checkpoint(), 'the look-ups of a turn share one view').toMatchObject([{ busy: 1 }])
    await expect.poll(checkpoint).toMatchObject([{ busy: 0 }])
    db.close()
  })

  test('survives kill -9 with every envelope that was acknowledged, and an unbroken chain', async () => {
    const script = fileURLToPath(new URL('./fixtures/append-until-killed.mjs', import.meta.url))
    const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    let acknowledged = 0
    let lines = 0
    for await (const line of createInterface(child.stdout)) {
      acknowledged = Number(line)
      if (++lines === 5) await expect(open()).rejects.toMatchObject({ code: 'locked' })
      if (lines === 100) child.kill('SIGKILL')
    }
    await ended
    expect(lines).toBeGreaterThanOrEqual(100)

    const { log } = await open()
    expect(log.head).toBeGreaterThanOrEqual(acknowledged)
    expect(log.head % 3, 'whole batches').toBe(0)
    const rows = await log.read({ limit: log.head + 1 })
    let hash = sha256(Buffer.from(log.epoch))
    for (const [i, row] of rows.entries()) {
      expect(row).toMatchObject({ seq: i + 1, id: `e${i + 1}` })
      const position = Buffer.alloc(8)
      position.writeBigUInt64BE(BigInt(row.seq))
      hash = sha256(hash, position, sha256(row.salt, row.body))
      expect(hash.equals(row.hash)).toBe(true)
    }
    expect(rows).toHaveLength(log.head)
    await log.append([draft(log.head + 1)])
  })
})

function draft(seq: number, id = `e${seq}`): DraftEntry {
  const body = Buffer.from(`"id":"${id}"}`)
  return { seq, id, ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: 'chat', body, content: body }
}

function drafts(from: number, to: number): DraftEntry[] {
  return Array.from({ length: to - from + 1 }, (_, i) => draft(from + i))
}

function sha256(...parts: Uint8Array[]): Buffer {
  return createHash('sha256').update(Buffer.concat(parts)).digest()
}
