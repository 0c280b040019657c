import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { PassThrough, pipeline, type Readable, type Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isSystemError, readLines, settlesWithin } from './lines.js'
import { type ChildExit, LIFELINE_FD, LIFELINE_LIMIT, type Order, type Report } from './messages.js'
import { findProcessTree, sendSignal } from './processes.js'

type StdioMode = 'pipe' | 'ignore' | 'inherit'

export interface SpawnChildOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** The environment of the command; only `MEUP_RUN` is added, to find its processes. */
  readonly env: Readonly<Record<string, string>>
  /** Relative to the working directory of this process; default: that directory. */
  readonly cwd?: string
  /** stdin, stdout, stderr; default: all `pipe`. */
  readonly stdio?: readonly [StdioMode, StdioMode, StdioMode]
}

interface CloseOptions {
  /** Milliseconds for the command to end after its stdin was closed; default 500. */
  readonly stdinGraceMs?: number
  /** Milliseconds between SIGTERM and SIGKILL; default 1000. */
  readonly termGraceMs?: number
}

export interface SupervisedChild extends AsyncDisposable {
  /** Pid of the command. */
  readonly pid: number
  /** The process group of the command; its leader is the reaper. */
  readonly group: number
  /** Null unless it is a pipe. */
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /**
   * Resolves when the command has ended, although its other processes may still be stopping. If that is unknown, resolves with
   * `exited`.
   */
  readonly commandExited: Promise<ChildExit>
  /** Resolves when the command and all its processes have ended; unread output may remain. */
  readonly exited: Promise<ChildExit>
  /** Closes stdin, then sends SIGTERM, then SIGKILL, each after a grace period. A second call may shorten them. */
  close(options?: CloseOptions): Promise<ChildExit>
}

/** The command could not be started; `code` is a system code such as `ENOENT`. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError'
  constructor(
    readonly command: string,
    readonly code: string,
    readonly reason: string,
  ) {
    super(`cannot start "${command}": ${reason}`)
  }
}

/** Windows has no process groups, and no signals that a program can handle. */
const onWindows = 'Windows cannot end a program with all that it has started: run meup in WSL'

const reaperPath = fileURLToPath(new URL('./reaper.js', import.meta.url))
const SWEEP_POLL_MS = 20
/** A process in uninterruptible I/O may survive SIGKILL for long, so the wait is limited. */
const SWEEP_ROUNDS = 100
/** Milliseconds that the reaper may be late before this process acts itself. */
const OVERDUE_MS = 1000

/**
 * Runs a command that ends with all its processes when this process ends, in any way. A process escapes only if it leaves the
 * process group, outlives its parent and, on Linux, also drops its environment. Resolves once the command runs; rejects with
 * CannotStartError.
 */
export async function spawnChild(options: SpawnChildOptions): Promise<SupervisedChild> {
  const { command, args = [], env, cwd = '.', stdio = ['pipe', 'pipe', 'pipe'] } = options
  if (process.platform === 'win32') throw new CannotStartError(command, 'ENOSYS', onWindows)
  const { reaper, group, lifeline } = await startReaper(stdio)
  const gone = once(reaper, 'exit')
  const order = (message: Order) => void lifeline.write(`${JSON.stringify(message)}\n`)
  // Sent over the lifeline, because the environment may contain secrets, and must not affect the reaper's own Node.
  const run = randomUUID()
  order({ start: { command, args, env, cwd: resolve(cwd), run } })

  const stdin = writing(reaper.stdin)
  const [stdout, stderr] = [reading(reaper.stdout), reading(reaper.stderr)]
  const reports = readReports(lifeline)
  const { value: first } = await reports.next()
  const pid = first && 'started' in first ? first.started.pid : undefined
  let onCommandExit = (_exit: ChildExit): void => {}
  const commandExited = new Promise<ChildExit>((resolve) => {
    onCommandExit = resolve
  })
  const exited = Promise.all([readExit(reports, onCommandExit), gone]).then(async ([exit, [code]]) => {
    if (code !== 0) await sweep(group, run, pid !== undefined && exit === undefined ? [pid] : [])
    return exit ?? { code: null, signal: 'SIGKILL' as const }
  })
  exited.then(onCommandExit, () => {}) // Callers of `exited` get the error.
  if (pid === undefined) {
    await exited
    throw startError(command, first)
  }

  const close = async ({ stdinGraceMs = 500, termGraceMs = 1000 }: CloseOptions = {}) => {
    stdin?.end()
    if (stdin) await settlesWithin(exited, stdinGraceMs)
    order({ stop: { graceMs: termGraceMs } })
    if (!(await settlesWithin(exited, termGraceMs + OVERDUE_MS))) await sweep(group, run, [pid])
    return exited
  }
  const dispose = async () => void (await close())
  return { pid, group, stdin, stdout, stderr, commandExited, exited, close, [Symbol.asyncDispose]: dispose }
}

async function startReaper(stdio: readonly StdioMode[]) {
  const reaper = spawn(process.execPath, [reaperPath], {
    detached: true,
    cwd: '/',
    env: {},
    stdio: [...stdio, 'pipe'],
  })
  await once(reaper, 'spawn')
  const lifeline = reaper.stdio[LIFELINE_FD]
  if (!(lifeline instanceof Socket) || reaper.pid === undefined) throw new Error('the reaper has no lifeline')
  // Writing to an exited reaper fails; its exit is handled elsewhere.
  lifeline.on('error', () => {})
  return { reaper, group: reaper.pid, lifeline }
}

/** A broken pipe fails the write; without a listener it would also be an uncaught error. */
function writing(stdin: ChildProcess['stdin']): Writable | null {
  stdin?.on('error', () => {})
  return stdin
}

/** When a process exits, Node discards output that was not read yet. */
function reading(output: ChildProcess['stdout']): Readable | null {
  return output && pipeline(output, new PassThrough(), () => {})
}

/** Stops the remaining processes if the reaper ended early or cannot do it. */
async function sweep(group: number, run: string, roots: readonly number[]): Promise<void> {
  let family = findProcessTree(group, run, roots)
  for (let round = 0; round < SWEEP_ROUNDS && family.length > 0; round++) {
    for (const pid of family) sendSignal(pid, 'SIGKILL')
    await sleep(SWEEP_POLL_MS)
    family = findProcessTree(group, run, family)
  }
}

function startError(command: string, report: Report | undefined): CannotStartError {
  if (report && 'failed' in report)
    return new CannotStartError(command, report.failed.code, report.failed.reason)
  return new CannotStartError(command, 'UNKNOWN', 'its reaper ended before it ran')
}

/** Yields the reports of the reaper until it has ended. */
async function* readReports(lifeline: Socket): AsyncGenerator<Report, undefined> {
  try {
    for await (const line of readLines(lifeline, LIFELINE_LIMIT)) yield JSON.parse(line)
  } catch (error) {
    // The reaper can also end with a reset connection.
    if (!isSystemError(error)) throw error
  }
}

/**
 * The exit of the command; undefined if the reaper ended without reporting it. Keeps reading, because stopping would close the
 * lifeline.
 */
async function readExit(
  reports: AsyncIterable<Report>,
  onExit: (exit: ChildExit) => void,
): Promise<ChildExit | undefined> {
  let exit: ChildExit | undefined
  for await (const report of reports) {
    if (!('exited' in report)) continue
    exit = report.exited
    onExit(exit)
  }
  return exit
}
