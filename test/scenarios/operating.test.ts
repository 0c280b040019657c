import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf } from '../support/snippets.js'

const needle = 'hunter2-tango-foxtrot'
const config = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*", space.erase] }
  ben: { kind: human, capabilities: ["*"] }
`

async function running() {
  const cwd = temporaryFolder({ 'space.yaml': config })
  const start = () => startMeup('gateway', cwd)
  const gateway = await start()
  const run = (...args: string[]) => meup(args, { cwd })
  const say = async (...args: string[]): Promise<number> => {
    const { stdout } = await run('send', '--json', ...args)
    return (JSON.parse(stdout) as { seq: number }).seq
  }
  return { cwd, start, gateway, run, say }
}

/** Lists the files in a folder that contain the needle. */
const filesWithNeedle = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = join(folder, name)
    return statSync(file).isFile() && readFileSync(file, 'latin1').includes(needle)
  })

test('what is erased is in no view, export or backup that is made afterwards, nor in a file', async () => {
  const { cwd, gateway, run, say } = await running()
  const said = await say(`so ${needle} it is`)
  const thought = await say('--kind', 'reasoning.thought', '--context', 'aside', `not ${needle}`)
  const views = [
    ['search', 'it is'],
    ['watch', '--from', '1', '--no-follow'],
    ['watch', '--from', '1', '--no-follow', '--json'],
    ['audit', 'trail'],
    ['audit', 'export'],
    ['audit', 'export', '--format', 'markdown'],
    ['audit', 'export', '--format', 'markdown', '--context', 'aside'],
  ]
  const show = async (): Promise<string[]> => {
    const shown: string[] = []
    for (const view of views) shown.push((await run(...view)).stdout)
    return shown
  }
  expect((await show()).filter((text) => text.includes(needle))).toHaveLength(views.length)
  expect(filesWithNeedle(cwd)).not.toEqual([])

  const denied = await run('erase', `${said}`, '--reason', 'a password', '--as', 'ben')
  expect(denied).toMatchObject({ code: 5, stderr: expect.stringContaining('space.erase') })
  for (const seq of [said, thought]) {
    expect(await run('erase', `${seq}`, '--reason', 'a password')).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^seq ${seq} is erased, and seq \\d+ says so\n$`)),
    })
  }
  expect((await show()).filter((text) => text.includes(needle))).toEqual([])
  expect(filesWithNeedle(cwd)).toEqual([])

  const made = [
    ['audit', 'export', '-o', 'demo.jsonl'],
    ['audit', 'export', '--format', 'sqlite', '--to', 'audit.db'],
    ['backup', '--to', 'copy.db'],
    ['restore', 'copy.db', '--to', 'restored.db'],
  ]
  for (const each of made) expect(await run(...each)).toMatchObject({ code: 0 })
  const names = `seq ${said} was erased by ana: a password`
  for (const file of [[], ['demo.jsonl']]) {
    const { code, stdout, stderr } = await run('audit', 'verify', ...file)
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining(names)])
  }
  expect(await gateway.stop('SIGTERM')).toBe(0)
  expect(filesWithNeedle(cwd)).toEqual([])
  expect(readdirSync(cwd)).toEqual(
    expect.arrayContaining(['audit.db', 'copy.db', 'demo.jsonl', 'restored.db']),
  )
})

test('all that a participant sent is erased, and nothing else', async () => {
  const { run, say } = await running()
  const own = await say('mine')
  const seqs = []
  for (const message of ['one', 'two']) seqs.push(await say(message, '--as', 'ben'))
  seqs.push(await say('--kind', 'reasoning.thought', '--context', 'aside', 'three', '--as', 'ben'))
  await run('caps', 'grant', 'ana', 'chat', '--as', 'ben')
  const erase = (...args: string[]) => run('erase', '--reason', 'ben has left', ...args)
  const { code, stdout } = await erase('--from', 'ben', '--json')
  const lines = stdout.split('\n').filter(Boolean)
  expect([code, lines.map((line) => JSON.parse(line).seq)]).toEqual([0, seqs])
  const left = (await run('watch', '--from', '1', '--no-follow', '--json')).stdout.split('\n').filter(Boolean)
  const kinds = left
    .map((line) => JSON.parse(line))
    .flatMap(({ from, kind }) => (from === 'ben' ? [kind] : []))
  expect(kinds).toEqual(['capability.grant'])
  expect(left.map((line) => JSON.parse(line).seq)).toContain(own)
  expect(await erase('--from', 'ben')).toMatchObject({ code: 0, stderr: '0 envelopes of ben are erased\n' })
  expect((await erase('--from', 'bem')).stderr).toContain('Did you mean ben')
  for (const wrong of [[], ['1', '--from', 'ben']]) expect(await erase(...wrong)).toMatchObject({ code: 2 })
})

/** A program that keeps a read transaction on the log open, as a backup does, and prints when a row is erased. */
const reader = `
  const [file, seq] = process.argv.slice(1)
  const [held, looks] = [1, 2].map(() => require('better-sqlite3')(file, { readonly: true }))
  held.exec('BEGIN')
  held.prepare('SELECT count(*) FROM envelopes').get()
  console.log('reads')
  const size = looks.prepare('SELECT length(body) FROM envelopes WHERE seq = ?').pluck()
  const timer = setInterval(() => size.get(seq) === 0 && (console.log('emptied'), clearInterval(timer)), 10)
  process.stdin.resume()`

test('what a backup kept from being overwritten is overwritten after the gateway was killed meanwhile', async () => {
  const { cwd, start, gateway, run, say } = await running()
  await say('much before it '.repeat(6000))
  const seq = await say(`so ${needle} it is`)
  const file = join(cwd, '.meup/space.db')
  const cwdOfDriver = join(repositoryRoot, 'packages/gateway')
  const backup = spawn(process.execPath, ['-e', reader, file, `${seq}`], { cwd: cwdOfDriver })
  onTestFinished(() => void backup.kill('SIGKILL'))
  await once(backup.stdout, 'data')
  const erased = run('erase', `${seq}`, '--reason', 'a password')
  await once(backup.stdout, 'data')
  await gateway.stop('SIGKILL')
  expect((await erased).code).toBe(3)
  await start()
  expect(filesWithNeedle(cwd)).toEqual(['.meup/space.db-wal'])
  backup.kill('SIGKILL')
  await expect.poll(() => filesWithNeedle(cwd)).toEqual([])
  expect((await run('audit', 'verify')).stdout).toContain(`seq ${seq} was erased by ana: a password`)
})

test('a database of steps that was made before tells that it has what was erased since', async () => {
  const { run, say } = await running()
  const thought = await say('--kind', 'reasoning.thought', '--context', 'aside', `not ${needle}`)
  const exported = () => run('audit', 'export', '--format', 'sqlite', '--to', 'audit.db')
  expect((await exported()).stderr).not.toContain('erased')
  await run('erase', `${thought}`, '--reason', 'a password')
  expect(await exported()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the file has 1 step of what was erased since'),
  })
})

test('stats are of the gateway and its files; without one, of the files', async () => {
  const { gateway, run, say } = await running()
  const head = await say('hello')
  expect(await run('erase', `${head}`, '--reason', 'a password', '--as', 'ben')).toMatchObject({ code: 5 })
  const [page = ''] = snippetsOf('docs/operating.md')
    .filter(({ language }) => language === 'console')
    .map(({ text }) => text)
  const shown = await run('stats')
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  const labels = (text: string) => [...text.matchAll(/^ {2}(\w+) {2}/gm)].map(([, label]) => label)
  expect(labels(shown.stdout)).toEqual(labels(page))
  expect(shown.stdout).toMatch(/refused +capability_violation 1\n/)
  const { gateway: stats, log } = JSON.parse((await run('stats', '--json')).stdout)
  expect(stats).toMatchObject({
    url: gateway.url,
    spaces: [{ space: 'demo', isReady: true, openContexts: 0, refused: { capability_violation: 1 } }],
  })
  expect(stats.spaces[0].head).toBeGreaterThanOrEqual(head)
  expect(log.files[0]).toMatchObject({ file: expect.stringMatching(/space\.db$/), bytes: expect.any(Number) })
  const { url } = gateway
  expect((await run('stats', '--url', url)).stdout).not.toContain('space.db')

  await gateway.stop('SIGTERM')
  const alone = JSON.parse((await run('stats', '--json')).stdout)
  expect(alone).toMatchObject({ gateway: null, log: { spaces: [{ space: 'demo' }] } })
  expect(alone.log.spaces[0].head).toBeGreaterThanOrEqual(head)
  expect(await run('stats', '--url', url)).toMatchObject({ code: 3, stderr: expect.stringContaining(url) })
})

test('a log that is not in a file is not backed up, and it says what to do', async () => {
  const cwd = temporaryFolder({ 'space.yaml': `${config}storage: { kind: memory }\n` })
  expect(await meup(['backup', '--to', 'copy.db'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('meup audit export'),
  })
  expect(await meup(['restore', 'copy.db'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no copy.db'),
  })
})
