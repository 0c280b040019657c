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
 * Our own variables would make every command find another space, or packages of this repository that are not installed in the
 * folder.
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

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Record<string, string>
  /** Default: that of this repository. */
  readonly program?: string
  /** Typed input, ended by Ctrl+D. */
  readonly input?: string
}

/** Runs `meup` to its end, in this process unless it needs another. */
export function meup(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { cwd = process.cwd(), env = {}, program, input = '' } = options
  return program === undefined && canRunHere(args)
    ? runHere(args, { cwd, env: environment(env), input })
    : runMeup(args, options)
}

/** Runs `meup` to its end, in a process of its own. */
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

/** Runs `meup` for as long as the test takes, with nothing typed. */
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

/** Runs `meup up` until it prints this on stderr, then ends it. */
export async function upUntil(text: RegExp, cwd: string, env: Record<string, string> = {}): Promise<Outcome> {
  const { said, process, ended } = spawnMeup(['up'], cwd, env)
  await expect.poll(() => said.stderr, { interval: 20 }).toMatch(text)
  process.kill('SIGTERM')
  return { code: await ended, ...said }
}

/** The beginning of a `space.yaml`, up to the participants. */
export const demoInMemory = `
version: 1
space: demo
gateway: { listen: "127.0.0.1:0" }
storage: { kind: memory }
`

/** A program that is `meup`, with its arguments. */
export const meupCommand = (args: readonly string[]): string[] => [process.execPath, entry, ...args]

/** A command line for `meup`, for a shell. */
export const commandLine = (args: string): string => `'${process.execPath}' '${entry}' ${args}`

export interface RunningSpace {
  readonly url: string
  readonly process: ChildProcess
  /** Its log so far. */
  readonly stderr: string
  /** Ends it and gives back its exit code, or the signal that ended it. */
  stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null>
}

/**
 * Runs `meup up`, whose programs have been started when this resolves, or `meup gateway` until the test is over; `through` is
 * a program that runs it, with its arguments, and `meup` another installation.
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

/** A gateway's log line for an unhandled rejection. */
const unhandled = 'a rejected promise was not handled'

/** Unhandled rejections as counted by a gateway; 0 if it has ended or does not answer. */
async function countUnhandledRejections(url: string): Promise<number> {
  try {
    const response = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(5000) })
    const [, count = '0'] = /^meup_unhandled_rejections_total (\d+)$/m.exec(await response.text()) ?? []
    return Number(count)
  } catch {
    return 0
  }
}

/** A port of 127.0.0.1 that another program listens on, until the test is over. */
export async function takePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A folder from a template of `meup init`: the space demo, with ana, on a free port. */
export async function initSpace(template: string, flags: readonly string[] = []): Promise<string> {
  const cwd = temporaryFolder()
  const names = ['--space', 'demo', '--person', 'ana', '--listen', '127.0.0.1:0']
  const { code, stderr } = await meup(['init', 'my-space', '--template', template, ...names, ...flags], {
    cwd,
  })
  if (code !== 0) throw new Error(stderr)
  return join(cwd, 'my-space')
}

/** An empty folder that is gone after the test. */
export function temporaryFolder(files: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'meup-'))
  // Programs that are about to end may still add files, which the retries of `rmSync` itself would not see.
  onTestFinished(() =>
    vi.waitFor(() => rmSync(folder, { recursive: true, force: true }), { timeout: 20_000, interval: 100 }),
  )
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}
