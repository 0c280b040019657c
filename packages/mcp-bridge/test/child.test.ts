import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProgramError, type SpawnChildOptions, type SupervisedChild, spawnChild } from '@meup/mcp-bridge'
import { afterEach, describe, expect, test } from 'vitest'
import { eventually, firstWords, fixtures, isRunning, readAll } from './support/processes.js'

const PATH = process.env.PATH ?? ''
const children: SupervisedChild[] = []

async function run(options: Omit<SpawnChildOptions, 'env'> & { env?: Record<string, string> }) {
  const child = await spawnChild({ env: { PATH }, ...options })
  children.push(child)
  return child
}

const node = (code: string, options: Partial<SpawnChildOptions> = {}) =>
  run({ command: process.execPath, args: ['-e', code], ...options })

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.close({ stdinGraceMs: 0, termGraceMs: 0 })))
})

describe('a child', () => {
  test('has the three pipes of the command', async () => {
    const child = await node('process.stdin.pipe(process.stdout); console.error("to the log")')
    child.stdin?.end('to and fro')
    expect(await readAll(child.stdout)).toBe('to and fro')
    expect(await readAll(child.stderr)).toBe('to the log\n')
    expect(await child.exited).toEqual({ code: 0, signal: null })
  })

  test('loses none of its output, even when it is gone before anyone reads', async () => {
    const child = await node('process.stdout.write("last words")')
    await child.exited
    expect(await readAll(child.stdout)).toBe('last words')
  })

  test('has no pipes where none were asked for', async () => {
    const child = await node('process.stdin.pipe(process.stderr)', { stdio: ['ignore', 'pipe', 'ignore'] })
    expect([child.stdin, child.stderr]).toEqual([null, null])
    expect(await child.exited).toEqual({ code: 0, signal: null })
  })

  test('ends its output when the command closes it', async () => {
    const child = await node('require("node:fs").closeSync(1); setInterval(() => {}, 1000)')
    expect(await readAll(child.stdout)).toBe('')
    expect(isRunning(child.pid)).toBe(true)
  })

  test('is not started on Windows, which has no process groups', async () => {
    const { platform } = process
    Object.defineProperty(process, 'platform', { value: 'win32' })
    try {
      await expect(node('')).rejects.toMatchObject({
        code: 'cannot_start',
        details: { systemCode: 'ENOSYS', reason: expect.stringContaining('WSL') },
      })
    } finally {
      Object.defineProperty(process, 'platform', { value: platform })
    }
  })

  test('has the environment that it was given, and the name of its run', async () => {
    const child = await node('process.stdout.write(JSON.stringify(process.env))', {
      env: { GREETING: 'a "b"\nc', NODE_OPTIONS: '--max-old-space-size=100' },
    })
    // Leaves out a variable that macOS adds to every process.
    const { __CF_USER_TEXT_ENCODING: _, MEUP_RUN, ...env } = JSON.parse(await readAll(child.stdout))
    expect(MEUP_RUN).toMatch(/^[0-9a-f-]{36}$/)
    expect(env).toEqual({ GREETING: 'a "b"\nc', NODE_OPTIONS: '--max-old-space-size=100' })
  })

  test('starts in the working directory that it was given', async () => {
    const cwd = await realpath(await mkdtemp(join(tmpdir(), 'meup-child-')))
    const child = await node('process.stdout.write(process.cwd())', { cwd })
    expect(await readAll(child.stdout)).toBe(cwd)
  })

  test('has no descriptor of the lifeline', async () => {
    const child = await run({
      command: 'sh',
      args: ['-c', '(: >&3) 2>/dev/null && echo open || echo closed'],
    })
    expect(await readAll(child.stdout)).toBe('closed\n')
  })

  test.for([
    ['process.exitCode = 3', { code: 3, signal: null }],
    ['process.kill(process.pid, "SIGKILL")', { code: null, signal: 'SIGKILL' }],
    ['process.kill(process.pid, "SIGUSR2")', { code: null, signal: 'SIGUSR2' }],
  ] as const)('tells how the command ended: %s', async ([code, exit]) => {
    expect(await (await node(code)).exited).toEqual(exit)
  })
})

describe('a command that cannot be started', () => {
  const refusal = (options: Partial<SpawnChildOptions>) =>
    run({ command: 'no-such-command', ...options }).catch((error: unknown) => error)

  test('is named', async () => {
    const error = await refusal({})
    expect(error).toBeInstanceOf(ProgramError)
    const details = { command: 'no-such-command', systemCode: 'ENOENT' }
    expect(error).toMatchObject({ code: 'cannot_start', details })
  })

  test('is told apart from a missing working directory', async () => {
    const details = { command: 'ls', reason: expect.stringContaining('/no/such/place') }
    expect(await refusal({ command: 'ls', cwd: '/no/such/place' })).toMatchObject({ details })
  })

  test('may be a file that is no program', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'meup-child-')), 'plain')
    await writeFile(path, 'plain text')
    expect(await refusal({ command: path })).toMatchObject({ details: { systemCode: 'EACCES' } })
  })

  test('is refused even where the system is never asked', async () => {
    expect(await refusal({ command: 'with\0null' })).toMatchObject({ code: 'cannot_start' })
  })
})

describe('closing', () => {
  test('lets a command go that ends with its stdin', async () => {
    const child = await node('process.stdin.on("end", () => process.exit(4)).resume()')
    expect(await child.close({ stdinGraceMs: 10_000 })).toEqual({ code: 4, signal: null })
  })

  test('lets a command clean up on SIGTERM', async () => {
    const child = await node(
      'process.on("SIGTERM", () => setTimeout(() => process.exit(5), 50)); console.log(1); setInterval(() => {}, 1000)',
    )
    await firstWords(child.stdout)
    expect(await child.close({ stdinGraceMs: 0, termGraceMs: 10_000 })).toEqual({ code: 5, signal: null })
  })

  test('kills a command that heeds neither, with all that it started', async () => {
    const child = await run({ command: process.execPath, args: [fixtures.family] })
    const { near = 0, far = 0 } = await firstWords(child.stdout)
    expect(await child.close({ stdinGraceMs: 0, termGraceMs: 50 })).toEqual({ code: null, signal: 'SIGKILL' })
    expect([child.pid, near, far].filter(isRunning)).toEqual([])
  })

  test('may be hastened', async () => {
    const child = await run({ command: process.execPath, args: [fixtures.family] })
    await firstWords(child.stdout)
    const patient = child.close({ stdinGraceMs: 0, termGraceMs: 3_600_000 })
    await child.close({ stdinGraceMs: 0, termGraceMs: 0 })
    expect(await patient).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test('goes for a command that has ended, too', async () => {
    const child = await node('process.exitCode = 6')
    await child.exited
    expect(await child.close()).toEqual({ code: 6, signal: null })
  })
})

/** A command that leaves behind a daemon: an orphan that leads its own session. */
const daemonizing = (andThen: string): string => `
  const daemon = 'process.on("SIGTERM", () => {}); console.log(JSON.stringify({ daemon: process.pid })); setInterval(() => {}, 1000)'
  const between = \`require("node:child_process").spawn(process.execPath, ["-e", \${JSON.stringify(daemon)}], { detached: true, stdio: "inherit" }).unref()\`
  require("node:child_process").spawnSync(process.execPath, ["-e", between], { detached: true, stdio: "inherit" })
  ${andThen}`

describe.runIf(process.platform === 'linux')('a daemon that a command has left behind', () => {
  test('goes with the command when that is stopped', async () => {
    const child = await node(daemonizing('setInterval(() => {}, 1000)'))
    const { daemon = 0 } = await firstWords(child.stdout)
    expect(isRunning(daemon)).toBe(true)
    await child.close({ stdinGraceMs: 0, termGraceMs: 50 })
    expect(isRunning(daemon)).toBe(false)
  })

  test('goes when the command ends', async () => {
    const child = await node(daemonizing('process.stdin.on("end", () => process.exit(0)).resume()'))
    const { daemon = 0 } = await firstWords(child.stdout)
    child.stdin?.end()
    await child.exited
    expect(isRunning(daemon)).toBe(false)
  })

  test('goes when the reaper is killed', async () => {
    const child = await node(daemonizing('setInterval(() => {}, 1000)'))
    const { daemon = 0 } = await firstWords(child.stdout)
    process.kill(child.group, 'SIGKILL')
    await child.exited
    expect(isRunning(daemon)).toBe(false)
  })

  test('stays where it belongs to another command', async () => {
    const [stays, goes] = [await node(daemonizing('setInterval(() => {}, 1000)')), await node('')]
    const { daemon = 0 } = await firstWords(stays.stdout)
    await goes.exited
    expect(isRunning(daemon)).toBe(true)
  })
})

describe('nothing is left over', () => {
  test('when the command ends before what it started', async () => {
    const helper = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'
    const child = await node(
      `const { pid } = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(helper)}], { stdio: "ignore" });
       process.stdout.write(JSON.stringify({ pid }), () => process.exit(0))`,
    )
    const { pid = 0 } = await firstWords(child.stdout)
    expect(pid).toBeGreaterThan(0)
    expect(await child.exited).toEqual({ code: 0, signal: null })
    expect(isRunning(pid)).toBe(false)
  })

  test('when the reaper is killed', async () => {
    const child = await run({ command: process.execPath, args: [fixtures.family] })
    const { near = 0, far = 0 } = await firstWords(child.stdout)
    process.kill(child.group, 'SIGKILL')
    expect(await child.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect([child.pid, near, far].filter(isRunning)).toEqual([])
  })

  test('when the reaper no longer reacts', async () => {
    const child = await run({ command: process.execPath, args: [fixtures.family] })
    const { near = 0, far = 0 } = await firstWords(child.stdout)
    process.kill(child.group, 'SIGSTOP')
    await child.close({ stdinGraceMs: 0, termGraceMs: 0 })
    expect([child.pid, near, far].filter(isRunning)).toEqual([])
  })

  test.for(['kill', 'exit', 'throw'] as const)('when the parent ends: %s', async (manner) => {
    const parent = spawn(process.execPath, [fixtures.parent, manner], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    const { sibling = 0, ...pids } = await firstWords(parent.stdout)
    try {
      const family = Object.values(pids)
      expect(family.filter(isRunning)).toHaveLength(4)
      if (manner === 'kill') parent.kill('SIGKILL')
      else parent.stdin.write('now\n')
      await once(parent, 'exit')
      await eventually(() => !family.some(isRunning))
      expect(family.filter(isRunning)).toEqual([])
      expect(isRunning(sibling)).toBe(true)
    } finally {
      process.kill(sibling, 'SIGKILL')
    }
  })
})
