import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, vi } from 'vitest'
import { repositoryRoot } from './files.js'
import { canRunHere, runHere } from './meup-here.js'

const entry = join(repositoryRoot, 'packages/cli/bin/meup.js')

/**
 * Makes an environment without the variables of this process that would make a command find another space, or packages that are
 * not installed in its folder.
 */
export function environment(extra: Record<string, string>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(MEUP_|NODE_PATH$)/.test(name))
  return { ...Object.fromEntries(kept), ...extra }
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The error that a command with `--json` prints on stderr, after notices. */
export const readError = ({ stderr }: Outcome): object =>
  JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Record<string, string>
  /** Path of the program; default: `meup` of this repository. */
  readonly program?: string
  /** Input on stdin, which then ends. */
  readonly input?: string
}

/** Runs `meup`, and waits for its end. Runs it in this process if possible. */
export function meup(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { cwd = process.cwd(), env = {}, program, input = '' } = options
  return program === undefined && canRunHere(args)
    ? runHere(args, { cwd, env: environment(env), input })
    : runMeup(args, options)
}

/** Runs `meup` in its own process, and waits for its end. */
export function runMeup(
  args: readonly string[],
  { cwd, env = {}, program = entry, input = '' }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: environment(env) })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })))
}

/** Runs `meup` until the test is over, without input. */
export function spawnMeup(args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [entry, ...args], { cwd, env: environment(env) })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  return { process: child, said, ended }
}

/** Runs `meup up` until it prints `text` on stderr, then stops it. */
export async function upUntil(text: RegExp, cwd: string, env: Record<string, string> = {}): Promise<Outcome> {
  const { said, process, ended } = spawnMeup(['up'], cwd, env)
  await expect.poll(() => said.stderr, { interval: 20 }).toMatch(text)
  process.kill('SIGTERM')
  return { code: await ended, ...said }
}

/** The beginning of a `space.yaml`, before the participants. */
export const demoInMemory = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: memory }
`

/** The command that runs `meup`, as a program with its arguments. */
export const meupCommand = (args: readonly string[]): string[] => [process.execPath, entry, ...args]

/** The command that runs `meup`, as a line for a shell. */
export const commandLine = (args: string): string => `'${process.execPath}' '${entry}' ${args}`

export interface RunningSpace {
  readonly url: string
  readonly process: ChildProcess
  /** Output on stderr so far. */
  readonly stderr: string
  /** Stops the process with a signal. Resolves with its exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>
}

/**
 * Runs `meup up` or `meup gateway` until the test is over. Resolves once it listens and its programs have been started.
 * `through`: another program that runs it, with arguments; `meup`: another installation.
 */
export async function startMeup(
  command: 'up' | 'gateway',
  cwd: string,
  args: readonly string[] = [],
  through: readonly string[] = [],
  meup = entry,
): Promise<RunningSpace> {
  const [program = '', ...rest] = [...through, process.execPath, meup, command, '--json', ...args]
  const child = spawn(program, rest, { cwd, env: environment({}) })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('close', (code, signal) => resolve(signal ?? code))
  })
  let url = ''
  onTestFinished(async () => {
    const rejections = await countUnhandledRejections(url)
    child.kill('SIGKILL')
    await ended
    expect(stderr).not.toContain(unhandled)
    expect(rejections).toBe(0)
  })
  await new Promise<void>((resolve, reject) => {
    const last = command === 'up' ? 'started' : 'listening'
    const lines = createInterface({ input: child.stdout }).on('line', (line) => {
      const event = JSON.parse(line) as { event: string; url?: string }
      url ||= event.url ?? ''
      if (event.event !== last) return
      lines.removeAllListeners('line')
      resolve()
    })
    void ended.then((code) => reject(new Error(`meup ${command} ended with ${code}: ${stderr}`)))
  })
  return {
    url,
    process: child,
    get stderr() {
      return stderr
    },
    stop(signal) {
      child.kill(signal)
      return ended
    },
  }
}

/** The line in a gateway's log for an unhandled rejection. */
const unhandled = 'a rejected promise was not handled'

/** Reads the number of unhandled rejections from a gateway's metrics; 0 if it has ended or does not answer. */
async function countUnhandledRejections(url: string): Promise<number> {
  try {
    const response = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(5000) })
    const [, count = '0'] = /^meup_unhandled_rejections_total (\d+)$/m.exec(await response.text()) ?? []
    return Number(count)
  } catch {
    return 0
  }
}

/** Listens on a port of 127.0.0.1 until the test is over, so that it is in use. Returns the port. */
export async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Makes a folder with `meup init` from a template: the space demo, with ana, on a free port. */
export async function initSpace(template: string, flags: readonly string[] = []): Promise<string> {
  const cwd = temporaryFolder()
  const names = ['--space', 'demo', '--person', 'ana', '--listen', '127.0.0.1:0']
  const { code, stderr } = await meup(['init', 'my-space', '--template', template, ...names, ...flags], {
    cwd,
  })
  if (code !== 0) throw new Error(stderr)
  return join(cwd, 'my-space')
}

/** Makes a folder with these files, which is removed after the test. */
export function temporaryFolder(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'meup-'))
  // Retries here, because programs that are about to end may add files, which the retries of `rmSync` itself would not see.
  onTestFinished(() =>
    vi.waitFor(() => rmSync(folder, { recursive: true, force: true }), { timeout: 20_000, interval: 100 }),
  )
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}
