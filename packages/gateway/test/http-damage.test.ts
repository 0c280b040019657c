import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type EnvelopeLog, type LogStore, sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { bearer } from './http-client.js'
import { rawEvents, story } from './reasoning-story.js'
import { temporaryFile } from './support.js'
import { begin, chat, conclude, stage } from './turns.js'

type Stage = Awaited<ReturnType<typeof stage>>

const readers = ['stranger', 'ana']
const paths = [
  '/turns?thread_id=test/ben',
  '/turns?thread_id=test/cleo',
  '/audit',
  '/audit?phase=execute',
  '/audit/export?format=markdown',
]

/** Requests a view. Repeats the request on 503, which a busy machine or a rebuilding index causes. */
async function read(staged: Stage, reader: string, path: string): Promise<string> {
  const answer = await staged.as(reader).get(path)
  const text = await answer.text()
  if (answer.status === 503) return read(staged, reader, path)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
  return text
}

/** All views of turns and steps, for each reader. */
async function received(staged: Stage): Promise<unknown[]> {
  const answers = readers.map(async (reader) => [
    ...(await Promise.all(paths.map((path) => read(staged, reader, path)))),
    await rawEvents(staged.url, reader, { query: 'after=0' }),
  ])
  return Promise.all(answers)
}

const home = mkdtempSync(join(tmpdir(), 'meup-gateway-'))
afterAll(() => rmSync(home, { recursive: true }))
let first: Promise<unknown[]> | undefined

/** Logs the story, and returns all views of it. */
async function tellFirst(): Promise<unknown[]> {
  const staged = await stage({ store: await sqliteStore({ path: join(home, 'log.db') }) })
  await staged.say(...story)
  const before = await received(staged)
  expect(before[0]).not.toEqual(before[1])
  await staged.close()
  return before
}

/** A copy of a log with the story, with the views of the original. */
async function toldOnce() {
  first ??= tellFirst()
  const before = await first
  const path = temporaryFile('log.db')
  cpSync(home, dirname(path), { recursive: true })
  const file = `${path}.index.db`
  const changed = (sql: string) => {
    const db = new Database(file)
    db.exec(sql)
    db.close()
  }
  return { path, before, file, changed }
}

const warnings = () => {
  const said: string[] = []
  const logger = { info: () => {}, warn: (_: object, message: string) => said.push(message), error: () => {} }
  return { said, logger }
}

describe('the index of turns is made again from the log where it', () => {
  test.for<[string, (file: string, changed: (sql: string) => void) => void, boolean]>([
    ['is gone', (file) => ['', '-wal', '-shm'].map((end) => rmSync(file + end, { force: true })), false],
    [
      'is no database',
      (file) => writeFileSync(file, 'not a database at all, but long enough'.repeat(100)),
      true,
    ],
    ['was cut off', (file) => truncateSync(file, 5000), true],
    ['has another format', (_, changed) => changed('PRAGMA user_version = 99'), true],
    ['is of something else', (_, changed) => changed('PRAGMA user_version = 0'), true],
    ['lacks a table', (_, changed) => changed('DROP TABLE marks'), true],
    ['is of another log', (_, changed) => changed("UPDATE spaces SET epoch = 'another'"), false],
    ['is of another past of the log', (_, changed) => changed("UPDATE spaces SET hash = x'00'"), false],
    [
      'knows more than the log',
      (_, changed) => changed('UPDATE spaces SET seq = 999, memory_seq = 999'),
      false,
    ],
  ])('%s: everybody is told the same as before', async ([, damage, isTold]) => {
    const { path, before, file, changed } = await toldOnce()
    damage(file, changed)
    const { said, logger } = warnings()
    const staged = await stage({ store: await sqliteStore({ path }), logger })
    expect(await received(staged)).toEqual(before)
    expect(said.includes('the index of turns is built again')).toBe(isTold)
  })

  test('is found damaged while it is in use: 503, and then the same as before', async () => {
    const { path, before, changed } = await toldOnce()
    const { said, logger } = warnings()
    const staged = await stage({ store: await sqliteStore({ path }), logger })
    expect(await received(staged)).toEqual(before)
    changed('DROP TABLE marks')
    const statuses = await Promise.all(paths.map(async (each) => (await staged.as('ana').get(each)).status))
    expect(new Set(statuses)).toContain(503)
    expect(statuses.filter((status) => status !== 503 && status !== 200)).toEqual([])
    expect(await received(staged)).toEqual(before)
    expect(said).toContain('the index of turns is built again')
  })
})

test('two spaces share the file: one that finds it damaged does not leave the other without', async () => {
  const path = temporaryFile('log.db')
  const other = { name: 'other', participants: { ana: ['*'] } }
  const staged = await stage({ store: await sqliteStore({ path }), others: [other] })
  await staged.say(...story)
  const before = await received(staged)
  const inOther = async () =>
    (await fetch(`${staged.url}/spaces/other/audit`, { headers: bearer('ana') })).status
  expect(await inOther()).toBe(200)
  const db = new Database(`${path}.index.db`)
  db.exec('DROP TABLE marks')
  db.close()
  expect((await staged.as('ana').get('/audit')).status).toBe(503)
  await expect.poll(inOther).toBe(200)
  expect(await received(staged)).toEqual(before)
  await expect.poll(inOther).toBe(200)
})

test('where the index cannot be opened, turns are refused with the reason, and everything else goes on', async () => {
  const inner = await sqliteStore({ path: temporaryFile('log.db') })
  const store: LogStore = {
    path: temporaryFile('no/such/directory/log.db'),
    open: (space) => inner.open(space),
    close: () => inner.close(),
  }
  const { say, as, connect, gateway } = await stage({ store })
  await say(...story)
  for (const path of paths) {
    const response = await as('ana').get(path)
    expect([path, response.status, await response.json()]).toMatchObject([
      ...[path, 503],
      { code: 'unavailable', detail: expect.stringContaining('ENOENT') },
    ])
  }
  const ana = await connect('ana')
  const { seq } = await ana.accepted(chat('more', 'it goes on'))
  expect((await as('ana').history('order=desc&limit=1&kind=chat')).envelopes.map(({ id }) => id)).toEqual([
    'more',
  ])
  await expect.poll(() => gateway.report()).toMatchObject([{ unindexed: seq }])
})

test('whatever the index is made to say, nobody is told what it may not read', {
  timeout: 60_000,
}, async () => {
  const { path, changed } = await toldOnce()
  for (const damage of [
    'UPDATE marks SET turn = 1',
    'UPDATE OR IGNORE marks SET turn = turn + 1',
    'UPDATE marks SET roles = 8191',
    'UPDATE marks SET steps = steps + 3, phases = 31, step = step + 1',
    "UPDATE turns SET agent = 'ben'",
    'UPDATE turns SET trigger = (SELECT max(trigger) FROM turns)',
    'UPDATE turns SET trigger = seq - 1',
    'UPDATE turns SET trigger = 6',
    'DELETE FROM turns WHERE number = 1',
  ]) {
    changed(damage)
    const staged = await stage({ store: await sqliteStore({ path }) })
    for (const asked of [...paths, '/turns?thread_id=test/cleo&sizes=true']) {
      const text = await (await staged.as('stranger').get(asked)).text()
      for (const secret of ['you too', 'for ana alone', 'kept back']) {
        expect([damage, asked, text.includes(secret)]).toEqual([damage, asked, false])
      }
    }
    await staged.close()
  }
})

/** A store that returns damaged JSON for the row with the id `fault.id`. */
function broken(inner: LogStore) {
  const fault: { id?: string } = {}
  const store: LogStore = {
    ...(inner.path !== undefined && { path: inner.path }),
    async open(space) {
      const log = await inner.open(space)
      const read: EnvelopeLog['read'] = async (query) =>
        (await log.read(query)).map((row) =>
          row.id === fault.id ? { ...row, body: Buffer.from('{"half') } : row,
        )
      return Object.assign(Object.create(log) as EnvelopeLog, { read })
    },
    close: () => inner.close(),
  }
  return { store, fault }
}

test('a row that cannot be read is no turn: who asks for it is told so, and for others the turns are read', async () => {
  const path = temporaryFile('log.db')
  const first = await stage({ store: await sqliteStore({ path }) })
  await first.say(
    ['ana', chat('ask', 'go'), chat('ask2', 'and you')],
    ['ben', begin('run', 'ask', 'begin'), conclude('run')],
    ['cleo', begin('crun', 'ask2', 'so'), conclude('crun')],
  )
  await first.say(['ana', chat('end', 'that is all')])
  expect(await read(first, 'ana', '/turns?thread_id=test/cleo')).toContain('turn_number')
  await first.close()
  const { store, fault } = broken(await sqliteStore({ path }))
  const staged = await stage({ store })
  fault.id = 'run'
  const response = await staged.as('ana').get('/turns?thread_id=test/ben')
  expect([response.status, await response.json()]).toMatchObject([503, { code: 'unavailable' }])
  expect(await read(staged, 'ana', '/turns?thread_id=test/cleo')).toContain('turn_number')
  delete fault.id
  expect(await read(staged, 'ana', '/turns?thread_id=test/ben')).toContain('turn_number')
})
