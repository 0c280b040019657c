import { connect as dial } from 'node:net'
import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { fillIn } from '@meup/protocol/error-texts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { texts } from '../src/core/refusal-texts.js'
import { exportOf, linesOf, participants, sha256, talkedIn, verdictFor, watched } from './audit-export.js'
import { freshId, range } from './client.js'
import { asking, bearer } from './http-client.js'
import { start, temporaryFile } from './support.js'

const readers = ['alice', 'bob', 'auditor'] as const
const shownSeqs = (text: string): (number | undefined)[] =>
  linesOf(text).flatMap(({ seq, body }) => (body === undefined ? [] : [seq]))

const stores: Record<string, () => Promise<LogStore>> = {
  memory: async () => memoryStore(),
  SQLite: () => sqliteStore({ path: temporaryFile('log.db') }),
}

describe.for(Object.keys(stores))('an export from %s', (kind) => {
  const open = async () => (await stores[kind]?.()) ?? memoryStore()

  test('verifies for everyone, and shows each what each may read', async () => {
    const { url } = await talkedIn({ store: await open() })
    const texts = await Promise.all(readers.map((reader) => exportOf(url, reader)))
    const verdicts = await Promise.all(texts.map((text) => verdictFor(text)))
    expect(verdicts).toEqual(verdicts.map(() => expect.objectContaining({ ok: true, first: 1 })))
    const hashes = verdicts.map((verdict) => verdict.ok && verdict.hash)
    expect(new Set(hashes).size).toBe(1)
    for (const [index, reader] of readers.entries()) {
      const { envelopes } = await asking(url, reader).history('limit=1000')
      expect(shownSeqs(texts[index] ?? '')).toEqual(envelopes.map(({ seq }) => seq))
    }
    const tells = (word: string) => readers.filter((_, index) => texts[index]?.includes(word))
    expect(tells('SECRET')).toEqual(['alice', 'bob', 'auditor'])
    expect(tells('HIDDEN')).toEqual(['alice'])
    expect(new Set(verdicts.map((verdict) => verdict.ok && verdict.shown)).size).toBe(2)
  })

  test('has the very bytes of the log, and of what is withheld only the leaf', async () => {
    const store = await open()
    const { url } = await talkedIn({ store })
    const log = await store.open('test')
    const [header, ...lines] = linesOf(await exportOf(url, 'auditor'))
    const trailer = lines.pop()
    const rows = await log.read({ limit: 1000 })
    const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex')
    expect(header).toEqual({ epoch: log.epoch, first: 1, previous: hex(sha256(Buffer.from(log.epoch))) })
    expect(lines).toEqual(
      rows.map(({ seq, id, salt, body, leaf }) =>
        ['thought', 'hidden'].includes(id)
          ? { seq, leaf: hex(leaf) }
          : { seq, salt: hex(salt), body: Buffer.from(body).toString() },
      ),
    )
    expect(trailer).toEqual({ epoch: log.epoch, head: log.head, hash: hex(rows.at(-1)?.hash) })
  })

  test('begins behind any seq, with the hash that everything before it comes to', async () => {
    const store = await open()
    const { url } = await talkedIn({ store })
    const { head } = await store.open('test')
    const whole = linesOf(await exportOf(url, 'bob'))
    const hashes = (await (await store.open('test')).read({ limit: 1000 })).map(({ hash }) =>
      Buffer.from(hash).toString('hex'),
    )
    for (const after of range(1, head)) {
      const text = await exportOf(url, 'bob', `?after=${after}`)
      const [header, ...rest] = linesOf(text)
      expect(header).toEqual({ ...whole[0], first: after + 1, previous: hashes[after - 1] })
      expect(rest).toEqual(whole.slice(after + 1))
      expect(await verdictFor(text)).toMatchObject({
        ok: true,
        first: after + 1,
        head,
        checked: head - after,
      })
    }
    expect(await exportOf(url, 'bob', '?after=0')).toBe(await exportOf(url, 'bob'))
  })

  test('of a pruned log begins where it was pruned', async () => {
    const store = await open()
    const { url } = await talkedIn({ store })
    const log = await store.open('test')
    await log.prune(4, Buffer.from(''))
    const text = await exportOf(url, 'bob')
    expect(linesOf(text)[0]).toMatchObject({ first: 5 })
    expect(await verdictFor(text)).toMatchObject({ ok: true, first: 5, checked: log.head - 4 })
    expect(linesOf(await exportOf(url, 'bob', '?after=2'))[0]).toEqual(linesOf(text)[0])
    const later = linesOf(text).toSpliced(1, 1)
    expect(await verdictFor(later.map((line) => `${JSON.stringify(line)}\n`).join(''))).toMatchObject({
      ok: false,
    })
  })
})

/** Fills a log before its gateway starts. */
async function filled(store: LogStore, rows: number, bytes = 0): Promise<void> {
  const log = await store.open('test')
  const ts = '2026-01-01T00:00:00.000Z'
  for (const seq of range(1, rows)) {
    const id = freshId()
    const message = 'x'.repeat(bytes)
    const body = Buffer.from(`{"id":"${id}","kind":"chat","from":"bob","payload":{"message":"${message}"}}`)
    await log.append([{ seq, id, ts, from: 'bob', kind: 'chat', body, content: body }])
  }
}

const lastOf = (text: string) => linesOf(text).at(-1)

describe('a log that changes while it is exported', () => {
  test('and grows is exported as it was when the export began', async () => {
    const inner = memoryStore()
    await filled(inner, 500)
    let grow: (() => Promise<unknown>) | undefined
    const store = watched(inner, async () => {
      const grown = grow
      grow = undefined
      await grown?.()
    })
    const { url, post } = await start({ participants, store })
    const log = await inner.open('test')
    const { head } = log
    grow = () => post('bob', { kind: 'chat', payload: { message: 'meanwhile' } })
    const text = await exportOf(url, 'alice')
    expect([grow, log.head]).toEqual([undefined, head + 1])
    expect(lastOf(text)).toMatchObject({ head })
    expect(await verdictFor(text)).toMatchObject({ ok: true, head, checked: head })
    expect(text).not.toContain('meanwhile')
    expect(lastOf(await exportOf(url, 'alice'))).toMatchObject({ head: head + 1 })
  })

  test.for([1, 2])('and is pruned breaks the export off, at page %i', async (page) => {
    const inner = memoryStore()
    await filled(inner, 500)
    let pages = Number.NEGATIVE_INFINITY
    const store = watched(inner, async (_, log) => {
      if (++pages === page) await log.prune(400, Buffer.from(''))
    })
    const warnings: object[] = []
    const logger = { info: () => {}, warn: (fields: object) => warnings.push(fields), error: () => {} }
    const { url } = await start({ participants, store, logger })
    pages = 0
    await expect(exportOf(url, 'alice')).rejects.toThrow(/terminated|fetch failed/)
    const err = expect.objectContaining({ code: 'range', details: { seq: expect.any(Number) } })
    expect(warnings).toEqual([{ err, space: 'test', participant: 'alice' }])
    expect(await verdictFor(await exportOf(url, 'alice'))).toMatchObject({ ok: true, first: 401 })
  })
})

test('waits for its reader: what nobody takes is not read from the log', async () => {
  const inner = memoryStore()
  const rows = 1024
  await filled(inner, rows, 64 * 1024)
  let pages = 0
  const store = watched(inner, () => void pages++)
  const { url } = await start({ participants, store })
  const head = (await inner.open('test')).head
  const counted = async (task: () => Promise<unknown>) => {
    const before = pages
    await task()
    return pages - before
  }
  const whole = await counted(() => exportOf(url, 'bob'))
  expect(whole).toBeGreaterThanOrEqual(Math.ceil(head / 64))

  const { hostname, port } = new URL(url)
  const idle = dial(Number(port), hostname)
  onTestFinished(() => void idle.destroy())
  const { authorization } = bearer('bob')
  const both = await counted(async () => {
    idle.write(
      `GET /spaces/test/audit/export HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: ${authorization}\r\n\r\n`,
    )
    await expect.poll(() => pages > whole, { interval: 1, timeout: 10_000 }).toBe(true)
    // If the gateway did not wait for the reader of the first export, it would read all of its pages before this second one
    // ends.
    expect(await verdictFor(await exportOf(url, 'bob'))).toMatchObject({ ok: true, head })
  })
  const idlePages = both - whole
  expect(idlePages).toBeGreaterThan(0)
  expect(idlePages, 'what fits into the buffers of the system').toBeLessThan(whole / 2)
})

describe('GET audit/export', () => {
  test('gives lines, and says so', async () => {
    const { url } = await start({ participants })
    const { get } = asking(url, 'alice')
    for (const path of ['/audit/export', '/audit/export?format=jsonl']) {
      const response = await get(path)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(await verdictFor(await response.text())).toMatchObject({ ok: true })
    }
  })

  const ofFormat = { name: 'format', form: 'jsonl or markdown' }
  const known = ['format', 'after', 'thread_id', 'turn', 'limit']
  test.for([
    ['format=html', fillIn(texts.invalidParameter, { ...ofFormat, value: 'html' })],
    ['format=jsonl&format=jsonl', fillIn(texts.invalidParameter, { ...ofFormat, value: 'jsonl&jsonl' })],
    ['before=3', fillIn(texts.unknownParameter, { name: 'before', known })],
    ['after=1000', fillIn(texts.lateAfter, { head: 2 })],
    ['format=markdown&after=1', texts.chainOnly],
  ])('refuses %s', async ([query, detail]) => {
    const { url } = await start({ participants })
    const response = await asking(url, 'alice').get(`/audit/export?${query}`)
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalid_request', detail }])
  })

  test('is for participants, of a space that there is, from where they may come', async () => {
    const { url } = await start({ participants, clock: new FakeClock() })
    for (const route of ['export', 'verify']) {
      const status = async (space: string, headers: Record<string, string>) =>
        (await fetch(`${url}/spaces/${space}/audit/${route}`, { headers })).status
      expect(await status('test', {})).toBe(401)
      expect(await status('test', { authorization: 'Bearer wrong' })).toBe(401)
      expect(await status('none', bearer('alice'))).toBe(404)
      expect(await status('test', { ...bearer('alice'), origin: 'https://evil.example' })).toBe(403)
    }
  })
})
