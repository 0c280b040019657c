import { type EnvelopeLog, type LogStore, memoryStore, sqliteStore, type Verification } from '@meup/gateway'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { verifyLog } from '../src/core/delivery/verify-log.js'
import { talkedIn, watched } from './audit-export.js'
import { range } from './client.js'
import { asking } from './http-client.js'
import { patient, readsOf } from './reads.js'
import { temporaryFile } from './support.js'

const verified = async (url: string): Promise<Verification> =>
  (await asking(url, 'bob').json('/audit/verify')) as Verification
const hexOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')
const tipOf = async (log: EnvelopeLog): Promise<string> =>
  hexOf((await log.read({ limit: 1, order: 'desc' }))[0]?.hash)

async function logOf(rows: number, store: LogStore = memoryStore()): Promise<EnvelopeLog> {
  const log = await store.open('main')
  await log.append(
    range(1, rows).map((seq) => {
      const fields = { id: `e${seq}`, ts: '2026-01-01T00:00:00.000Z', from: 'ada', kind: 'chat' }
      const body = Buffer.from(JSON.stringify(fields))
      return { seq, ...fields, body, content: body }
    }),
  )
  return log
}

const verifyAll = (log: EnvelopeLog, reader = patient) => verifyLog({ log, reads: readsOf(log) }, reader)

const stores: Record<string, () => Promise<LogStore>> = {
  memory: async () => memoryStore(),
  SQLite: () => sqliteStore({ path: temporaryFile('log.db') }),
}

describe.for(Object.keys(stores))('GET audit/verify of a log in %s', (kind) => {
  test('says that it holds, where it does', async () => {
    const store = (await stores[kind]?.()) ?? memoryStore()
    const { url, post } = await talkedIn({ store })
    const log = await store.open('test')
    const { epoch, head } = log
    const whole = { ok: true, epoch, head, hash: await tipOf(log), checked: head }
    expect(await verified(url)).toEqual(whole)
    await log.prune(5, Buffer.from(''))
    const rest = { ...whole, checked: head - 5, prunedBefore: 6 }
    expect(await verified(url)).toEqual(rest)
    await post('alice', { kind: 'chat', payload: { message: 'more' } })
    const more = { head: head + 1, hash: await tipOf(log), checked: head - 4 }
    expect(await verified(url)).toEqual({ ...rest, ...more })
  })
})

describe('a damaged log', () => {
  test.for<[what: string, statement: string]>([
    [
      'a body',
      `UPDATE envelopes SET body = CAST(replace(CAST(body AS TEXT), '"so"', '"is"') AS BLOB) WHERE seq = 6`,
    ],
    ['a body to its length', `UPDATE envelopes SET body = substr(body, 1, 20) WHERE seq = 6`],
    ['a salt', `UPDATE envelopes SET salt = zeroblob(16) WHERE seq = 6`],
    ['the length of a salt', `UPDATE envelopes SET salt = zeroblob(7) WHERE seq = 6`],
    ['a leaf', `UPDATE envelopes SET leaf = zeroblob(32) WHERE seq = 6`],
    ['a hash', `UPDATE envelopes SET hash = zeroblob(32) WHERE seq = 6`],
    ['a row that is gone', `DELETE FROM envelopes WHERE seq = 6`],
    [
      'two rows that change places',
      `UPDATE envelopes SET seq = -seq WHERE seq IN (6, 7);
      UPDATE envelopes SET seq = 13 + seq WHERE seq < 0`,
    ],
  ])('breaks at the first row that is not what it was: %s', async ([, statement]) => {
    const path = temporaryFile('log.db')
    const store = await sqliteStore({ path })
    const { url } = await talkedIn({ store })
    const log = await store.open('test')
    const [fifth] = await log.read({ after: 4, limit: 1 })
    const { epoch, head } = log
    const db = new Database(path)
    onTestFinished(() => void db.close())
    db.exec('DROP TRIGGER envelopes_refuse_update; DROP TRIGGER envelopes_refuse_delete')
    expect(await verified(url)).toMatchObject({ ok: true })
    db.exec(statement)
    const hash = hexOf(fifth?.hash)
    expect(await verified(url)).toEqual({ ok: false, epoch, head, hash, checked: 5, brokenAt: 6 })
  })

  test.for<[column: string, value: string]>([
    ['to', 'NULL'],
    ['to', `'["bob"]'`],
    ['to', `'no JSON'`],
    ['kind', `'acme.note'`],
    ['from', `'bob'`],
    ['context', 'NULL'],
    ['correlationId', 'NULL'],
    ['id', `'another'`],
    ['ts', `'2026-01-01T00:00:00.001Z'`],
  ])(
    'breaks at the first row of which a column is not what its body says: %s is %s',
    async ([column, value]) => {
      const path = temporaryFile('log.db')
      const store = await sqliteStore({ path })
      const { url, post } = await talkedIn({ store })
      const private_ = { kind: 'chat', to: ['alice'], context: 'free', correlationId: 'x' }
      await post('alice', { ...private_, payload: { message: 'for alice' } })
      const log = await store.open('test')
      const { head } = log
      await post('alice', { kind: 'chat', payload: { message: 'more' } })
      const db = new Database(path)
      onTestFinished(() => void db.close())
      db.exec('DROP TRIGGER envelopes_refuse_update')
      db.exec(`UPDATE envelopes SET "${column}" = ${value} WHERE seq = ${head}`)
      const verification = await verified(url)
      expect(verification).toMatchObject({ ok: false, checked: head - 1, brokenAt: head })
      if (value !== `'no JSON'`) expect(verification.column).toBe(column)
    },
  )

  test('breaks at its last row, and at its first, and after a pruning', async () => {
    for (const seq of [1, 7, 200]) {
      const log = await logOf(200)
      const [row] = await log.read({ after: seq - 1, limit: 1 })
      row?.body.fill(0, 0, 1)
      expect(await verifyAll(log)).toMatchObject({ ok: false, checked: seq - 1, brokenAt: seq })
    }
    const log = await logOf(9)
    await log.prune(3, Buffer.from(''))
    Object.assign(log.snapshot?.hash ?? {}, { 0: 1, 1: 2 })
    expect(await verifyAll(log)).toMatchObject({ ok: false, checked: 0, brokenAt: 4, prunedBefore: 4 })
  })
})

describe('verifying', () => {
  test('is done once for all who ask meanwhile, page by page', async () => {
    const inner = memoryStore()
    await logOf(1000, inner)
    const limits: number[] = []
    const log = await watched(inner, ({ limit }) => limits.push(limit)).open('main')
    const all = await Promise.all(range(1, 20).map(() => verifyAll(log)))
    expect(new Set(all).size).toBe(1)
    expect(Math.max(...limits)).toBeLessThanOrEqual(256)
    const pages = limits.length
    expect(pages).toBeLessThanOrEqual(1000 / 256 + 1)
    expect(await verifyAll(log), 'who comes later gets another').not.toBe(all[0])
    expect(limits.length).toBe(2 * pages)
  })

  test('lets others have their turn', async () => {
    const log = await logOf(5000)
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    expect(await verifyAll(log)).toMatchObject({ ok: true, checked: 5000 })
    clearImmediate(next)
    expect(turns).toBeGreaterThan(5)
  })

  test('begins anew where the log is pruned meanwhile', async () => {
    const inner = memoryStore()
    await logOf(300, inner)
    let pages = 0
    const log = await watched(inner, async (_, pruned) => {
      if (++pages === 2) await pruned.prune(280, Buffer.from(''))
    }).open('main')
    expect(await verifyAll(log)).toMatchObject({ ok: true, head: 300, checked: 20, prunedBefore: 281 })
  })

  test('that fails is tried again by who asks next', async () => {
    const inner = memoryStore()
    await logOf(10, inner)
    let fails = true
    const log = await watched(inner, () => {
      if (fails) throw new Error('no disk')
    }).open('main')
    await expect(verifyAll(log)).rejects.toThrow('no disk')
    fails = false
    expect(await verifyAll(log)).toMatchObject({ ok: true })
  })

  test('ends with the last who asked, and who comes later is not kept waiting by that', async () => {
    const inner = memoryStore()
    await logOf(2000, inner)
    const gone = new Set<string>()
    let pages = 0
    const log = await watched(inner, () => {
      if (++pages === 2) for (const rateLimitKey of ['ada', 'ben']) gone.add(rateLimitKey)
    }).open('main')
    const asked = ['ada', 'ben'].map((rateLimitKey) =>
      verifyAll(log, { ...patient, rateLimitKey, isGone: () => gone.has(rateLimitKey) }),
    )
    expect(await Promise.all(asked)).toEqual([undefined, undefined])
    expect(pages).toBe(2)
    expect(await verifyAll(log)).toMatchObject({ ok: true, checked: 2000 })
  })
})
