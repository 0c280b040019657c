import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { meup, type Outcome, startMeup, temporaryFolder } from '../support/cli.js'
import { installWithoutSqlite } from '../support/without-sqlite.js'

const space = (storage: string): string => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: ${storage}
participants:
  ana: { kind: human, capabilities: ["*", space.erase] }
`
const sqlite = space('{ kind: sqlite }')

function expectSentence({ code, stdout, stderr }: Outcome): void {
  const text = `${stdout}${stderr}`
  expect(text).toMatch(/needs the package better-sqlite3, which /)
  expect(text).toMatch(
    /(python3, make and a C\+\+ compiler, then |; )run npm (install|rebuild) better-sqlite3/,
  )
  expect(text).not.toMatch(/^\s+at /m)
  expect(code).toBe(1)
}

test('a command that needs SQLite says which packages are missing', async () => {
  const program = installWithoutSqlite('missing')
  const cwd = temporaryFolder({ 'space.yaml': sqlite })
  const run = (...args: string[]): Promise<Outcome> => meup(args, { cwd, program })
  expectSentence(await run('up'))
  expectSentence(await run('gateway'))
  expectSentence(await run('doctor'))
  // A complete installation writes the log that these commands read.
  const gateway = await startMeup('gateway', cwd)
  await meup(['send', 'Hello', '--as', 'ana'], { cwd })
  expectSentence(await run('audit', 'export', '--format', 'sqlite', '--to', 'audit.db', '--as', 'ana'))
  expect((await meup(['audit', 'export', '-o', 'log.jsonl', '--as', 'ana'], { cwd })).code).toBe(0)
  await gateway.stop('SIGTERM')
  expectSentence(await run('stats'))
  expectSentence(await run('backup', '--to', 'copy.db'))
  expectSentence(await run('restore', '.meup/space.db', '--to', 'other.db'))
  expectSentence(await run('replay', 'log.jsonl', '--into', 'replayed.db'))
  mkdirSync(join(cwd, '.meup/transcripts'))
  writeFileSync(join(cwd, '.meup/transcripts/reviewer.db'), '')
  expectSentence(await run('transcript', 'log'))
})

test('a package that was not compiled is named, too', async () => {
  const cwd = temporaryFolder({ 'space.yaml': sqlite })
  const ended = await meup(['up'], { cwd, program: installWithoutSqlite('uncompiled') })
  expectSentence(ended)
  expect(ended.stderr).toMatch(/was not compiled/)
})

test('a space in memory runs without SQLite, with turns, events and erasing', async () => {
  const program = installWithoutSqlite('missing')
  const cwd = temporaryFolder({ 'space.yaml': space('{ kind: memory }') })
  const run = (...args: string[]): Promise<Outcome> => meup([...args, '--as', 'ana'], { cwd, program })
  const { url, stop } = await startMeup('up', cwd, [], [], program)
  expect(await run('send', 'Hello')).toMatchObject({ code: 0 })
  expect((await run('search', 'Hello')).stdout).toMatch(/Hello/)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(await run('send', '--kind', 'reasoning.thought', '--context', 'aside', 'hm')).toMatchObject({
    code: 0,
  })
  expect((await run('audit', 'trail')).stdout).toMatch(/hm/)
  expect(await run('erase', '4', '--reason', 'a password')).toMatchObject({ code: 0 })
  expect((await meup(['doctor'], { cwd, program })).code).toBe(0)
  expect(await stop('SIGTERM')).toBe(0)
})
