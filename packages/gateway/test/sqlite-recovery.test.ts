import { existsSync, renameSync, rmSync } from 'node:fs'
import { type DraftEntry, type EnvelopeLog, sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFile } from './support.js'

const failure = {
  name: 'LogError',
  code: 'io',
  details: expect.objectContaining({ reason: expect.stringContaining('the disk is on fire') }),
}

function draft(seq: number, id = `e${seq}`): DraftEntry {
  const body = Buffer.from(`"id":"${id}"}`)
  return { seq, id, ts: '2026-05-04T03:02:01.000Z', from: 'ada', kind: 'chat', body, content: body }
}

/** A log with three rows. Appending the id `fire` fails until `extinguish` is called. */
async function onFire() {
  const path = temporaryFile('log.db')
  const store = await sqliteStore({ path })
  const log = await store.open('main')
  await log.append([draft(1), draft(2), draft(3)])
  const db = new Database(path)
  db.exec(`CREATE TRIGGER fire BEFORE INSERT ON envelopes WHEN NEW.id = 'fire'
    BEGIN SELECT RAISE(ABORT, 'the disk is on fire'); END`)
  onTestFinished(async () => {
    db.close()
    await store.close()
  })
  return { path, store, log, db, extinguish: () => db.exec('DROP TRIGGER fire') }
}

const idsOf = async (log: EnvelopeLog) => (await log.read({ limit: 99 })).map(({ id }) => id)

describe('a sqlite log whose write fails', () => {
  test('keeps what was acknowledged, can be read, and goes on', async () => {
    const { store, log, extinguish } = await onFire()
    const other = await store.open('other')
    await expect(log.append([draft(4), draft(5, 'fire')])).rejects.toMatchObject(failure)
    expect(log.head).toBe(3)
    expect(await idsOf(log)).toEqual(['e1', 'e2', 'e3'])
    expect(log.find('e3')?.seq).toBe(3)
    expect(log.find('e4')).toBeUndefined()
    await expect(log.append([draft(4, 'fire')])).rejects.toMatchObject(failure)
    await other.append([draft(1)])
    expect((await store.open('third')).head).toBe(0)

    await log.recover()
    expect(log.head).toBe(3)
    extinguish()
    await log.append([draft(4), draft(5, 'fire')])
    expect(await idsOf(log)).toEqual(['e1', 'e2', 'e3', 'e4', 'fire'])
  })

  test('refuses a batch of many envelopes, too: all of it', async () => {
    const { log } = await onFire()
    const many = Array.from({ length: 100 }, (_, index) => draft(4 + index))
    await expect(log.append([...many, draft(104, 'fire')])).rejects.toMatchObject(failure)
    expect(log.head).toBe(3)
  })

  test('leaves no append without an answer', async () => {
    const { store, log } = await onFire()
    const other = await store.open('other')
    const appends = [
      log.append([draft(4, 'fire')]),
      ...Array.from({ length: 50 }, (_, i) => log.append([draft(5 + i)])),
      ...Array.from({ length: 50 }, (_, i) => other.append([draft(1 + i)])),
    ]
    const results = await Promise.allSettled(appends)
    expect(results[0]).toMatchObject({ reason: failure })
    expect(results.slice(1, 51).map(({ status }) => status)).toEqual(Array(50).fill('rejected'))
    expect(log.head).toBe(3)
    await Promise.all([log.recover(), other.recover()])
    expect(log.head).toBe(3)
    expect(await idsOf(other)).toHaveLength(other.head)
  })

  test('acknowledges nothing that its thread could not write', async () => {
    const { store, log } = await onFire()
    const other = await store.open('other')
    // While the writer thread is busy with `recover`, this thread does not commit: the append goes through the writer thread.
    const busy = other.recover()
    await expect(log.append([draft(4, 'fire')])).rejects.toMatchObject(failure)
    await busy
    expect(log.head).toBe(3)
    expect(await idsOf(log)).toEqual(['e1', 'e2', 'e3'])
  })

  test('takes up again what is stored, though nobody heard that it was', async () => {
    const { log, db } = await onFire()
    const copy = `INSERT INTO envelopes SELECT space, 4, 'stored', ts, "from", kind, "to", context, correlationId,
      body, salt, leaf, hash, digest FROM envelopes WHERE seq = 3`
    db.exec(copy)
    await expect(log.append([draft(4)])).rejects.toMatchObject({ code: 'io' })
    expect(log.head).toBe(3)
    expect(log.find('stored')).toBeUndefined()
    await log.recover()
    expect(log.head).toBe(4)
    expect(log.find('stored')?.seq).toBe(4)
    await expect(log.append([draft(4)])).rejects.toMatchObject({ code: 'gap' })
    await log.append([draft(5)])
    expect(await idsOf(log)).toEqual(['e1', 'e2', 'e3', 'stored', 'e5'])
  })

  test('does not begin a new file where its own has vanished', async () => {
    const { path, log } = await onFire()
    expect(await idsOf(log)).toHaveLength(3)
    await expect(log.append([draft(4, 'fire')])).rejects.toMatchObject(failure)
    renameSync(path, `${path}.away`)
    await expect(log.recover()).rejects.toMatchObject({ name: 'LogError', code: 'io' })
    await expect(log.append([draft(4)])).rejects.toMatchObject({ name: 'LogError', code: 'io' })
    expect(existsSync(path)).toBe(false)
    expect(await idsOf(log)).toEqual(['e1', 'e2', 'e3'])
    renameSync(`${path}.away`, path)
    await log.recover()
    await log.append([draft(4)])
    expect(log.head).toBe(4)
  })

  test('notices that its file is another’s', async () => {
    const { path, log } = await onFire()
    const strange = temporaryFile('strange.db')
    const elsewhere = await sqliteStore({ path: strange })
    await (await elsewhere.open('main')).append([draft(1)])
    await elsewhere.close()
    await expect(log.append([draft(4, 'fire')])).rejects.toMatchObject(failure)
    renameSync(strange, path)
    for (const file of [`${path}-wal`, `${path}-shm`]) rmSync(file)
    await expect(log.recover()).rejects.toMatchObject({ name: 'LogError', code: 'corrupt' })
    expect(log.head).toBe(3)
  })
})
