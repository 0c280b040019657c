import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { demoInMemory, meup, spawnMeup, temporaryFolder } from '../support/cli.js'

vi.setConfig({ testTimeout: 120_000 })

const within = { timeout: 40_000, interval: 25 }
const talker = `
console.log('hello')
let count = 0
setInterval(() => console.log('tick ' + ++count), 100)
`
const config = `${demoInMemory}
participants:
  ana: { kind: human, capabilities: ["*"] }
  bot: { kind: process, command: node, args: [bot.mjs], startTimeout: 300ms }
`

/** Makes a folder with a space. Its list of running spaces is separate from that of the user. */
function makeSpace(files: Record<string, string> = {}) {
  const cwd = temporaryFolder({ 'space.yaml': config, 'bot.mjs': talker, ...files })
  const runtime = join(cwd, 'runtime')
  mkdirSync(runtime, { mode: 0o700 })
  const env = { XDG_RUNTIME_DIR: runtime }
  const run = (...args: string[]) => meup(args, { cwd, env })
  onTestFinished(async () => void (await run('down')))
  return { cwd, env, run }
}

test('up -d runs a space in the background, which spaces lists, logs shows and down ends', async () => {
  const { cwd, run } = makeSpace()
  const up = await run('up', '-d', '--json')
  expect(up).toMatchObject({ code: 0 })
  const { url, pid, log, programs } = JSON.parse(up.stdout)
  expect(programs).toMatchObject([{ participant: 'bot' }])
  expect(statSync(log).mode & 0o777).toBe(0o600)
  expect(JSON.parse((await run('spaces', '--json')).stdout)).toEqual([
    { directory: cwd, url, spaces: ['demo'], pid },
  ])
  await vi.waitFor(async () => {
    const { stdout } = await run('logs', 'bot', '--json')
    expect(JSON.parse(stdout.split('\n')[0] ?? '{}')).toMatchObject({ participant: 'bot', text: 'hello' })
  }, within)
  expect(await run('logs', 'bto')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Did you mean bot?'),
  })
  expect((await run('logs', '--tail', '1')).stdout).toMatch(/^\d\d:\d\d:\d\d {2}bot \| tick \d+\n$/)
  const again = await run('up', '-d')
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`(pid ${pid})`) })
  expect(await run('down', '--json')).toEqual({
    code: 0,
    stdout: `{"stopped":true,"pid":${pid}}\n`,
    stderr: '',
  })
  expect(isAlive(pid)).toBe(false)
  expect(existsSync(join(cwd, '.meup/gateway.json'))).toBe(false)
  expect(JSON.parse((await run('spaces', '--json')).stdout)).toEqual([])
  expect(await run('down')).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing runs in') })
  expect((await run('logs')).code).toBe(3)
})

function isAlive(pid: number): boolean {
  try {
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

test('of two that start at once in one folder one goes on, and both say so', async () => {
  const { run } = makeSpace()
  const ended = await Promise.all([run('up', '-d'), run('up', '-d')])
  expect(ended.map(({ code }) => code).sort()).toEqual([0, 1])
  expect(ended.map(({ stderr }) => stderr).join('')).toContain('this space runs already')
  expect((await run('up')).code).toBe(1)
})

test('logs -f goes on until its space ends', async () => {
  const { cwd, env, run } = makeSpace()
  await run('up', '-d')
  const following = spawnMeup(['logs', 'bot', '-f'], cwd, env)
  await vi.waitFor(() => expect(following.said.stdout).toMatch(/tick \d+\n.*tick \d+\n/), within)
  await run('down')
  expect({ code: await following.ended, ...following.said }).toMatchObject({ code: 3 })
})

test('up -d says why its gateway does not start', async () => {
  const { cwd, run } = makeSpace()
  writeFileSync(join(cwd, 'space.yaml'), config.replace('127.0.0.1:0', '192.0.2.1:0'))
  const up = await run('up', '-d')
  expect(up).toMatchObject({ code: 1, stdout: '' })
  expect(up.stderr).toContain('is not an address of this machine')
  writeFileSync(join(cwd, 'space.yaml'), 'version: 2\n')
  expect(await run('up', '-d')).toMatchObject({ code: 2 })
})

test('down ends a space that is still starting', async () => {
  const { cwd, env, run } = makeSpace()
  const neverListens = `
const { Server } = require('node:net')
const { listen } = Server.prototype
Server.prototype.listen = function (...args) {
  return typeof args[0] === 'string' ? listen.apply(this, args) : this
}
`
  writeFileSync(join(cwd, 'slow.cjs'), neverListens)
  const up = spawnMeup(['up'], cwd, { ...env, NODE_OPTIONS: `--require ${join(cwd, 'slow.cjs')}` })
  const socket = join(cwd, '.meup/run/control.sock')
  await vi.waitFor(() => expect(existsSync(socket)).toBe(true), within)
  expect((await run('up')).stderr).toContain('runs already at an address that is not known yet')
  expect(await run('down')).toMatchObject({ code: 0, stderr: 'stopped\n' })
  expect(await up.ended).not.toBe(0)
})
