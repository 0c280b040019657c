import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import {
  type Entry,
  type EnvelopeLog,
  type ImportOptions,
  importLog,
  inspectLog,
  memoryStore,
  sqliteStore,
} from '@meup/gateway'
import { type Envelope, PROTOCOL } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.js'
import { times } from '../../../test/support/soak.js'
import { Delivery } from '../src/core/delivery/broadcast.js'
import { exportLog } from '../src/core/delivery/verify-log.js'
import { encode, toDraft } from '../src/log/entries.js'
import { exportOf, linesOf, participants, talkedIn } from './audit-export.js'
import { byId } from './client.js'
import { asking } from './http-client.js'
import { patient, readsOf } from './reads.js'
import { start, temporaryFile } from './support.js'

/** Parses an export into the input of `importLog`. */
function importable(text: string) {
  const lines = linesOf(text)
  const [{ epoch = '' } = {}, { head: seq = 0, hash = '' } = {}] = [lines[0], lines.at(-1)]
  const rows = lines.slice(1, -1).map(({ seq = 0, salt = '', body = '' }) => ({ seq, salt, body }))
  return { epoch, rows, head: { seq, hash } }
}

const masked = {
  id: 'masked',
  kind: 'reasoning.thought',
  context: 'run',
  payload: { message: ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_') },
}
const invitation = { kind: 'space.invite', payload: { participantId: 'newt', capabilities: ['chat'] } }

/** A space with a conversation, the auditor's export of it, and the path of a file for the copy. */
async function exported() {
  const running = await talkedIn()
  const show = { kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: true } }
  const { status, body } = await running.post('alice', [show, masked, invitation])
  expect(status).toBe(201)
  const token = (body as { invitation?: { token: string } }[])[2]?.invitation?.token ?? ''
  const path = temporaryFile('copy.db')
  return { running, path, token, whole: importable(await exportOf(running.url, 'auditor')) }
}

/** Starts a gateway on an imported log. */
const startOn = async (path: string) => start({ participants, store: await sqliteStore({ path }) })

const sender = fc.constantFrom('alice', 'bob', 'system:gateway')
const context = fc.constantFrom('run', 'run/inner')
const envelope: fc.Arbitrary<Partial<Envelope>> = fc.record(
  {
    from: sender,
    kind: fc.constantFrom('app.note', 'app.other'),
    to: fc.constantFrom(['alice'], ['alice', 'bob']),
    context,
    correlationId: fc.constantFrom<string | string[]>('e1', ['e1', 'e2']),
    payload: fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()),
  },
  { requiredKeys: ['from', 'kind', 'payload'] },
)

/** A log of these envelopes, in memory. */
async function logOf(envelopes: readonly Partial<Envelope>[]): Promise<EnvelopeLog> {
  const log = await memoryStore().open('original')
  const drafts = envelopes.map((fields, at) => {
    const ts = new Date(at).toISOString()
    const whole = {
      protocol: PROTOCOL,
      id: `e${at + 1}`,
      ts,
      from: '',
      kind: '',
      payload: {},
      ...fields,
    } as const
    // Formats the payload with white space, which the log has to keep.
    return toDraft(whole, at + 1, encode(whole, Buffer.from(JSON.stringify(whole.payload, null, 1))))
  })
  await log.append(drafts)
  return log
}

/** The export of a log as text, as a gateway writes it. */
async function textOf(log: EnvelopeLog): Promise<string> {
  const createDelivery = (entry: Entry): Delivery => new Delivery(entry, undefined)
  const reads = readsOf(log)
  const source = { log, reads, delivered: log.head, createDelivery, decideAudience: () => undefined }
  let text = ''
  const reader = { ...patient, participant: 'ana', readsTargeted: true }
  for await (const line of exportLog(reader, source)) text += line
  return text
}

async function rowsOf(log: EnvelopeLog): Promise<object[]> {
  const rows = await log.read({ limit: log.head })
  return rows.map(({ body, salt, leaf, hash, digest, ...fields }) => {
    return { ...fields, bytes: Buffer.concat([salt, leaf, hash, digest, body]).toString('hex') }
  })
}

const logCount = times(100, 1000)

describe('an imported log', () => {
  test(`is what was exported, row by row, for ${logCount} random logs`, async () => {
    const path = temporaryFile('copies.db')
    const logs = await Promise.all(fc.sample(fc.array(envelope, { maxLength: 12 }), logCount).map(logOf))
    for (const [at, log] of logs.entries()) {
      const whole = importable(await textOf(log))
      const imported = await importLog({ path, space: `space-${at}`, ...whole })
      expect(imported).toEqual({ epoch: log.epoch, head: log.head, hash: whole.head.hash })
    }
    const copies = await sqliteStore({ path })
    for (const [at, log] of logs.entries()) {
      const copy = await copies.open(`space-${at}`)
      expect([copy.epoch, await rowsOf(copy)]).toEqual([log.epoch, await rowsOf(log)])
    }
    await copies.close()
  }, 120_000)

  test('is served as the original was: history, participants, contexts, welcome', async () => {
    const { running, path, whole } = await exported()
    await importLog({ path, space: 'test', ...whole })
    const copy = await startOn(path)
    const [there, here] = [asking(running.url, 'auditor'), asking(copy.url, 'auditor')]
    for (const route of ['/participants', '/contexts', '/contexts/run', '/audit/verify']) {
      expect(await here.json(route)).toEqual(await there.json(route))
    }
    const history = await here.lines('limit=1000')
    expect(history).toEqual(await there.lines('limit=1000'))
    expect(history).toHaveLength(whole.head.seq)
    expect(history.filter((line) => line.includes('[redacted:'))).toHaveLength(1)
    expect(await exportOf(copy.url, 'auditor')).toBe(await exportOf(running.url, 'auditor'))
    expect(await exportOf(copy.url, 'bob')).toBe(await exportOf(running.url, 'bob'))

    const [first, second] = [await running.connect('bob'), await copy.connect('bob')]
    expect(second.welcome).toEqual(first.welcome)
  })

  test('goes on as the original would: retries, invitations, contexts', async () => {
    const { path, token, whole } = await exported()
    await importLog({ path, space: 'test', ...whole })
    const copy = await startOn(path)
    const alice = await copy.connect('alice')
    const said = { kind: 'chat', payload: { message: 'for everyone: é 😀 \u2028 "quoted" \\ \u0007' } }
    const { seq } = await alice.accepted({ id: 'open', ...said })
    expect(seq).toBeLessThan(whole.head.seq)
    const others = [{ id: 'open', kind: 'chat', payload: { message: 'other' } }, masked]
    for (const other of others) {
      expect(await alice.refused(other)).toMatchObject({ code: 'duplicate_id' })
    }
    const newt = await copy.dial({ token })
    await alice.accepted({ id: 'on', kind: 'reasoning.conclusion', context: 'run' })
    await newt.next(byId('on'))
  })

  test('becomes a log of its own without an epoch and salts', async () => {
    const { running, path, whole } = await exported()
    const rows = whole.rows.map(({ seq, body }) => ({ seq, body }))
    const imported = await importLog({ path, space: 'test', rows })
    expect(imported.head).toBe(whole.head.seq)
    expect([imported.epoch, imported.hash]).not.toContain(whole.epoch)
    expect(imported.hash).not.toBe(whole.head.hash)
    const { url } = await startOn(path)
    const verified = await asking(url, 'bob').json('/audit/verify')
    expect(verified).toMatchObject({ ok: true, ...imported })
    const lines = await asking(url, 'auditor').lines('limit=1000')
    expect(lines).toEqual(await asking(running.url, 'auditor').lines('limit=1000'))
  })
})

describe('an import is refused, and nothing is stored', () => {
  const heads = (path: string) =>
    Object.fromEntries(inspectLog(path)?.spaces.map(({ name, head }) => [name, head]) ?? [])

  test('where the space has envelopes already', async () => {
    const { path, whole } = await exported()
    await importLog({ path, space: 'test', ...whole })
    const again = importLog({ path, space: 'test', ...whole, epoch: 'another' })
    await expect(again).rejects.toMatchObject({ name: 'LogError', code: 'occupied' })
    expect(inspectLog(path)?.spaces).toMatchObject([
      { name: 'test', epoch: whole.epoch, head: whole.head.seq },
    ])
    await importLog({ path, space: 'beside-it', ...whole })
    expect(heads(path)).toEqual({ 'beside-it': whole.head.seq, test: whole.head.seq })
  })

  test('while a gateway has the file', async () => {
    const { path, whole } = await exported()
    const store = await sqliteStore({ path })
    const locked = { name: 'LogError', code: 'locked' }
    await expect(importLog({ path, space: 'test', ...whole })).rejects.toMatchObject(locked)
    await store.close()
    async function* watching() {
      await expect(sqliteStore({ path })).rejects.toMatchObject(locked)
      yield* whole.rows
    }
    await importLog({ path, space: 'test', ...whole, rows: watching() })
    expect(heads(path)).toEqual({ test: whole.head.seq })
  })

  test('where what comes is no log', async () => {
    const { path, whole } = await exported()
    const [first, second, ...rest] = whole.rows as [Row, Row, ...Row[]]
    const envelope = JSON.parse(second.body)
    const instead = (body: unknown) => [first, { ...second, body: JSON.stringify(body) }, ...rest]
    const because = (reason: string) => ({ seq: 2, reason: expect.stringContaining(reason) })
    const otherHead = { head: expect.any(String), expected: expect.any(String) }
    const cases: [code: string, what: Partial<ImportOptions>, details: object][] = [
      ['gap', { rows: [first, ...rest] }, { expected: 2, got: 3 }],
      ['gap', { rows: [second, ...rest] }, { expected: 1, got: 2 }],
      ['duplicate_id', { rows: [first, { ...first, seq: 2 }] }, { id: expect.any(String) }],
      ['corrupt', { rows: [first, { ...second, body: '{' }] }, because('invalid JSON')],
      ['corrupt', { rows: [first, { ...second, body: ` ${second.body}` }] }, because('as a body')],
      ['corrupt', { rows: instead({ ...envelope, seq: 2 }) }, because('as a body')],
      ['corrupt', { rows: instead({ ...envelope, ts: 'noon' }) }, because('/ts')],
      ['corrupt', { rows: instead({ ...envelope, kind: 'chat', payload: {} }) }, because('/payload/message')],
      ['corrupt', { rows: instead('text') }, because('must be object')],
      ['corrupt', { rows: [first, { ...second, salt: second.salt.slice(2) }] }, because('salt')],
      ['corrupt', { rows: [first, { ...second, salt: first.salt }, ...rest] }, otherHead],
      ['corrupt', { epoch: 'another' }, otherHead],
      ['corrupt', { rows: whole.rows.slice(0, -1) }, otherHead],
    ]
    for (const [code, what, details] of cases) {
      const refused = importLog({ path, space: 'test', ...whole, ...what })
      await expect(refused).rejects.toMatchObject({ code, details })
      expect(heads(path)).toEqual({})
    }
    function* broken() {
      yield first
      throw new RangeError('the line has broken')
    }
    const broke = importLog({ path, space: 'test', rows: broken() })
    await expect(broke).rejects.toThrow(new RangeError('the line has broken'))
    expect(heads(path)).toEqual({})
    await importLog({ path, space: 'test', ...whole })
  })
})

type Row = ReturnType<typeof importable>['rows'][number]

test('an import that is killed in the middle leaves an empty space, for another one', async () => {
  const { path, whole } = await exported()
  const script = fileURLToPath(new URL('./fixtures/import-half.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(whole.rows))
  await once(child.stdout, 'data')
  expect(inspectLog(path)?.isLocked).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'close')
  expect(inspectLog(path)).toMatchObject({ spaces: [], isLocked: false })
  await importLog({ path, space: 'test', ...whole })
})
