import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@meup/agent-sdk'
import { expect, onTestFinished, test, vi } from 'vitest'
import { meup, startMeup, temporaryFolder } from '../support/cli.js'

/** A program that records its start with its participant and token, keeps running, and delays its end after SIGTERM. */
const worker = `
  const { appendFileSync } = require('node:fs')
  const { MEUP_PARTICIPANT, MEUP_TOKEN, MODE = '' } = process.env
  appendFileSync('starts', [MEUP_PARTICIPANT, MODE, MEUP_TOKEN, process.pid, Date.now()].join(' ') + '\\n')
  process.on('SIGTERM', () => setTimeout(() => {
    appendFileSync('ends', process.pid + ' ' + Date.now() + '\\n')
    process.exit()
  }, 150))
  setInterval(() => {}, 1000)
`
const config = (lines: readonly string[]): string => `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
participants:
  ana: { kind: human, capabilities: ["*"] }
${lines.join('\n')}
`
const run = (name: string, mode: string): string =>
  `  ${name}: { kind: process, command: node, args: [worker.cjs], env: { MODE: "${mode}" } }`

const within = { timeout: 40_000, interval: 25 }

interface Start {
  readonly who: string
  readonly token: string
  readonly pid: number
  /** Time of the start, in milliseconds since the epoch. */
  readonly at: number
}

const startsIn = (cwd: string): Start[] =>
  (existsSync(join(cwd, 'starts')) ? readFileSync(join(cwd, 'starts'), 'utf8') : '')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [who, mode, token = '', pid, at] = line.split(' ')
      return { who: `${who} ${mode}`, token, pid: Number(pid), at: Number(at) }
    })

function endOf(cwd: string, { pid }: Start): number {
  const line = new RegExp(`^${pid} (\\d+)$`, 'm').exec(readFileSync(join(cwd, 'ends'), 'utf8'))
  return Number(line?.[1])
}

function isAlive({ pid }: Start): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function started(lines: readonly string[], args: readonly string[] = []) {
  const cwd = temporaryFolder({ 'space.yaml': config(lines), 'worker.cjs': worker })
  const running = await startMeup('up', cwd, args)
  /** Lists the running programs by name. Checks that each was started once, or as often as `starts` says. */
  const alive = (): string[] =>
    startsIn(cwd)
      .filter(isAlive)
      .map(({ who }) => who)
      .sort()
  const become = (...who: string[]) => vi.waitFor(() => expect(alive()).toEqual(who), within)
  const write = (changed: readonly string[]): void => {
    writeFileSync(join(cwd, 'space.yaml'), config(changed))
    running.process.kill('SIGHUP')
  }
  return { cwd, running, become, write }
}

test('programs that were added run, removed ones stop, changed ones run anew, the others go on', async () => {
  const { cwd, running, become, write } = await started([run('a', '1'), run('b', '1'), run('c', '1')])
  await become('a 1', 'b 1', 'c 1')
  const [a] = startsIn(cwd).filter(({ who }) => who === 'a 1')
  write([run('a', '1'), run('b', '2'), run('d', '1')])
  await become('a 1', 'b 2', 'd 1')
  expect(startsIn(cwd).filter(({ who }) => who.startsWith('a'))).toEqual([a])
  const [old, anew] = startsIn(cwd).filter(({ who }) => who.startsWith('b'))
  if (old === undefined || anew === undefined) throw new Error('b was not started twice')
  expect(endOf(cwd, old)).toBeLessThanOrEqual(anew.at)
  expect(await running.stop('SIGTERM')).toBe(0)
  await become()
})

test('a program whose token is replaced runs anew with the new one; one whose token is revoked stops', async () => {
  const { cwd, become } = await started([run('a', '1'), run('b', '1')])
  await become('a 1', 'b 1')
  expect((await meup(['token', 'rotate', 'a'], { cwd })).code).toBe(0)
  expect((await meup(['token', 'revoke', 'b'], { cwd })).code).toBe(0)
  await become('a 1')
  const token = readFileSync(join(cwd, '.meup/tokens/a'), 'utf8').trim()
  await vi.waitFor(() => expect(startsIn(cwd).filter(isAlive)).toMatchObject([{ token }]), within)
  expect((await meup(['token', 'create', 'b'], { cwd })).code).toBe(0)
  await become('a 1', 'b 1')
})

test('with a revoked token the others start', async () => {
  const cwd = temporaryFolder({ 'space.yaml': config([run('a', '1'), run('b', '1')]), 'worker.cjs': worker })
  await meup(['token', 'revoke', 'b'], { cwd })
  const { process } = await startMeup('up', cwd)
  let stderr = ''
  process.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  await vi.waitFor(() => expect(startsIn(cwd).map(({ who }) => who)).toEqual(['a 1']), within)
  process.kill('SIGHUP')
  await vi.waitFor(() => expect(stderr).toContain('b is not started: its token is revoked'), within)
})

test('a program that cannot be started by a reload takes nothing else with it, and the next reload mends it', async () => {
  const { cwd, become, write } = await started([run('a', '1')])
  await become('a 1')
  const ana = await connect({ as: 'ana', directory: cwd })
  onTestFinished(() => ana.close())
  write([run('a', '1'), run('b', '1').replace('command: node', 'command: no-such-program'), run('c', '1')])
  await become('a 1', 'c 1')
  await ana.chat('still here')
  write([run('a', '1'), run('b', '1'), run('c', '1')])
  await become('a 1', 'b 1', 'c 1')
})
