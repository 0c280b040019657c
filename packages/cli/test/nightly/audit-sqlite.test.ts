import { existsSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '@meup/agent-sdk'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { meup, readError, spawnMeup, startMeup, temporaryFolder } from '../../../../test/support/cli.js'
import { running as guardedGateway } from '../../../../test/support/guarded-gateway.js'
import { some, times } from '../../../../test/support/soak.js'
import { verifies } from '../../../../test/verifies.js'
import { readRows } from '../support/exported.js'

const timeout = 120_000
/** Number of times that an export is killed. */
const rounds = times(4, 12)

const config = (storage = '') => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
${storage}
participants:
  ana: { kind: human, capabilities: ["*"] }
  eve: { kind: human, capabilities: [chat] }
`
const inMemory = 'storage: { kind: memory }'
const follow = ['audit', 'export', '--format', 'sqlite', '--to', 'audit.db', '--follow']

async function running(storage = '') {
  const cwd = temporaryFolder({ 'space.yaml': config(storage) })
  const gateway = await startMeup('gateway', cwd)
  const run = (...args: string[]) => meup(args, { cwd })
  const think = async (context: string, message: string) => {
    await using ana = await connect({ as: 'ana', directory: cwd })
    await ana.send({ kind: 'reasoning.thought', context, payload: { message } })
  }
  const file = join(cwd, 'audit.db')
  return { cwd, gateway, run, think, file, contents: () => readContents(file) }
}

/** Contents of all steps in the file; empty if it does not exist yet. */
function readContents(path: string): string[] {
  try {
    const db = new Database(path, { readonly: true, fileMustExist: true })
    try {
      return db.prepare<[], string>('SELECT content FROM reasoning_steps ORDER BY id').pluck().all()
    } finally {
      db.close()
    }
  } catch {
    return []
  }
}

/**
 * The distinct numbers of steps per turn in the file; a number other than that in the log reveals a turn that is half written.
 */
function stepsOfTurns(path: string): Set<number> {
  if (!existsSync(path)) return new Set()
  const db = new Database(path)
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
  const counts = isEmpty
    ? []
    : db
        .prepare<[], number>(
          'SELECT (SELECT count(*) FROM reasoning_steps WHERE turn_id = turns.id) FROM turns',
        )
        .pluck()
        .all()
  db.close()
  return new Set(counts)
}

test('an export that follows goes on live, over a restart of the gateway, until a signal', {
  timeout,
}, async () => {
  const { cwd, gateway, run, think, file, contents } = await running()
  await think('aside', 'before')
  const exporting = spawnMeup(follow, cwd)
  await expect.poll(contents).toEqual(['before'])
  await think('aside', 'meanwhile')
  await expect.poll(contents).toEqual(['before', 'meanwhile'])
  const states = () => readRows(file).turns.map((turn) => (turn as { state: string }).state)
  expect(states()).toEqual(['running'])
  expect(await run('send', '--kind', 'reasoning.conclusion', '--context', 'aside')).toMatchObject({ code: 0 })
  await expect.poll(states).toEqual(['completed'])

  await gateway.stop('SIGTERM')
  await expect.poll(() => exporting.said.stderr).toMatch(/; trying again\n$/)
  await startMeup('gateway', cwd, ['--listen', gateway.url.replace('http://', '')])
  await think('other', 'after')
  await expect.poll(contents).toEqual(['before', 'meanwhile', 'after'])
  exporting.process.kill('SIGTERM')
  expect(await exporting.ended).toBe(0)
})

test('an export that follows goes on where its first reading is cut off', { timeout }, async () => {
  const { cwd, gateway, think, contents } = await running()
  await think('aside', 'before')
  let isAway = true
  const proxy = createServer(({ url = '', headers }, response) => {
    if (isAway && url.includes('/envelopes?')) return void response.destroy()
    const upstream = request(`${gateway.url}${url}`, { headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      pipeline(answer, response, () => {})
    })
    upstream.on('error', () => response.destroy()).end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  const way = ['--url', `http://127.0.0.1:${port}`, '--space', 'demo', '--token-file', '.meup/tokens/ana']
  const exporting = spawnMeup([...follow, ...way], cwd)
  await expect.poll(() => exporting.said.stderr).toMatch(/; trying again\n$/)
  isAway = false
  await think('aside', 'after')
  await expect.poll(contents, { timeout: 20_000 }).toEqual(['before', 'after'])
  exporting.process.kill('SIGTERM')
  expect(await exporting.ended).toBe(0)
  proxy.close()
})

test('an export that follows adds the thoughts of a hidden run when it is over, however long ago they were', {
  timeout,
}, async () => {
  const space = await guardedGateway()
  const said = async (who: string, ...envelopes: object[]) =>
    expect(await space.post(who, envelopes)).toBe(201)
  const thought = (context: string, message: string) => ({
    ...{ kind: 'reasoning.thought', context, payload: { message } },
  })
  await said('ana', { id: 'run', kind: 'reasoning.start', payload: {} })
  await said('ana', { kind: 'observe.visibility', payload: { context: 'run', reasoningVisible: false } })
  await said('ana', thought('run', 'hidden'), thought('aside', 'aloud'))
  const exporting = spawnMeup([...follow, '--as', 'ben'], space.folder)
  const contents = () => readContents(join(space.folder, 'audit.db'))
  await expect.poll(contents).toEqual(['aloud'])
  for (let part = 0; part < 8; part++)
    await said('cas', ...Array.from({ length: 100 }, (_, index) => thought('work', `${part}.${index}`)))
  await expect.poll(() => contents().length).toBe(801)
  await said('ana', { kind: 'reasoning.conclusion', context: 'run', payload: {} })
  await expect.poll(() => contents().slice(0, 2)).toEqual(['hidden', 'aloud'])
  exporting.process.kill('SIGINT')
  expect(await exporting.ended).toBe(0)
  await space.stop()
})

test('an export that follows ends where the log is replaced, whose steps do not get into its file', {
  timeout,
}, async () => {
  const { cwd, gateway, think, contents } = await running(inMemory)
  await think('aside', 'of the first log')
  const exporting = spawnMeup(follow, cwd)
  await expect.poll(contents).toEqual(['of the first log'])
  await gateway.stop('SIGTERM')
  await startMeup('gateway', cwd, ['--listen', gateway.url.replace('http://', '')])
  await think('aside', 'of the second log')
  expect(await exporting.ended).toBe(1)
  expect(exporting.said.stderr).toMatch(/the log of demo was replaced by \S+; export it to another file\n$/)
  const again = await meup(follow.slice(0, -1), { cwd })
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toMatch(/^meup: audit\.db is of the log \S+ of demo, and the log of demo is \S+; /)
  expect(contents()).toEqual(['of the first log'])
})

verifies(
  'A22',
  'an export that is killed again and again has whole turns or none, and is whole in the end',
  async () => {
    const space = await guardedGateway()
    let turns = 0
    const work = async (count: number) => {
      for (let end = turns + count; turns < end; turns++) {
        const context = `run-${turns}`
        const said = (message: string) => ({ kind: 'reasoning.thought', context, payload: { message } })
        const envelopes = [
          { id: context, kind: 'reasoning.start', payload: {} },
          ...['look', 'think', 'act'].map(said),
          { kind: 'reasoning.conclusion', context, payload: {} },
        ]
        expect(await space.post('ana', envelopes)).toBe(201)
      }
    }
    const args = [...follow.slice(0, -1), '--as', 'ben']
    const path = join(space.folder, 'audit.db')
    let killed = 0
    await work(300)
    for (let round = 0; round < rounds; round++) {
      const exporting = spawnMeup(args, space.folder)
      await pause(150 + (480 * round) / rounds)
      exporting.process.kill('SIGKILL')
      if ((await exporting.ended) === null) killed++
      expect([...stepsOfTurns(path)].filter((count) => count !== 3)).toEqual([])
      await work(10)
    }
    expect(killed).toBeGreaterThan(rounds / 4)
    expect(await meup(args, { cwd: space.folder })).toMatchObject({ code: 0 })
    const fresh = args.map((arg) => (arg === 'audit.db' ? 'fresh.db' : arg))
    expect(await meup(fresh, { cwd: space.folder })).toMatchObject({ code: 0 })
    expect(readRows(path)).toEqual(readRows(join(space.folder, 'fresh.db')))
    expect(readRows(path).steps).toHaveLength(3 * turns)
    await space.stop()
  },
  { timeout },
)

test('an export to SQLite says what is wrong with what it was asked', { timeout }, async () => {
  const { run, think } = await running()
  await think('aside', 'hm')
  const sqlite = ['--format', 'sqlite']
  const to = ['--to', 'audit.db']
  const wrong: [args: string[], code: string, option: string][] = [
    [sqlite, 'option_needed', '--format sqlite'],
    [to, 'option_needed', '--to'],
    [['--follow'], 'option_needed', '--follow'],
    [['--format', 'markdown', '--keep-days'], 'option_needed', '--keep-days'],
    [[...sqlite, ...to, '-o', 'x'], 'option_conflict', '--output'],
    [[...sqlite, ...to, '--thread', 'ana'], 'option_conflict', '--thread'],
    [[...sqlite, ...to, '--keep-days', '0'], 'invalid_value', '--keep-days'],
  ]
  const failing: [to: string, says: string][] = [
    ['space.yaml', 'space.yaml is not a SQLite database; name another file with --to'],
    [
      '.meup/space.db',
      '.meup/space.db is a database, but no export of an audit; name another file with --to',
    ],
    ['nowhere/audit.db', 'no such file or directory'],
  ]
  for (const [args, code, option] of some(wrong, 2))
    expect(readError(await run('audit', 'export', '--json', ...args))).toMatchObject({
      ...{ code, exitCode: 2, details: { option } },
    })
  for (const [path, says] of some(failing, 1))
    expect(await run('audit', 'export', ...sqlite, '--to', path)).toMatchObject({
      ...{ code: 1, stdout: '', stderr: expect.stringContaining(says) },
    })
  const done = await run('audit', 'export', ...sqlite, ...to)
  expect(done).toEqual({ code: 0, stdout: '', stderr: 'audit.db: 1 step and 1 turn added\n' })
  const again = await run('audit', 'export', ...sqlite, ...to, '--json', '--keep-days')
  expect(JSON.parse(again.stdout)).toEqual({
    file: 'audit.db',
    session_id: expect.any(String),
    turns: 0,
    steps: 0,
    pruned: 0,
  })
})
