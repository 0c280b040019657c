import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { PassThrough, pipeline, type Readable, type Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type ProgramError, programError } from '../errors.js'
import { isSystemError, readLines, settlesWithin } from './lines.js'
import { type ChildExit, LIFELINE_FD, LIFELINE_LIMIT, type Order, type Report } from './messages.js'
import { findProcessTree, sendSignal } from './processes.js'

type StdioMode = 'pipe' | 'ignore' | 'inherit'

export interface SpawnChildOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** The exact environment of the command. Only `MEUP_RUN` is added, to find its processes. */
  readonly env: Readonly<Record<string, string>>
  /** The working directory, relative to that of this process; default: the same. */
  readonly cwd?: string
  /** For stdin, stdout and stderr; default: `pipe` for all. */
  readonly stdio?: readonly [StdioMode, StdioMode, StdioMode]
}

interface CloseOptions {
  /** Milliseconds that the command gets to end after its stdin was closed; default 500. */
  readonly stdinGraceMs?: number
  /** Milliseconds between SIGTERM and SIGKILL; default 1000. */
  readonly termGraceMs?: number
}

export interface SupervisedChild extends AsyncDisposable {
  /** Process id of the command. */
  readonly pid: number
  /** Id of the process group with the command; its leader is the reaper. */
  readonly group: number
  /** `null` if stdin is not a pipe. */
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /**
   * Resolves when the command has ended, although other processes that it started may still be running. If the reaper has not
   * reported the end of the command, resolves together with `exited`.
   */
  readonly commandExited: Promise<ChildExit>
  /** Resolves when the command and all processes that it started have ended. Its output may not have been read completely. */
  readonly exited: Promise<ChildExit>
  /** Closes stdin, sends SIGTERM, then sends SIGKILL, each after a grace period. A second call may shorten these. */
  close(options?: CloseOptions): Promise<ChildExit>
}

/** Windows is not supported, because it has no process groups, and no signals that a program can handle. */
const onWindows = 'Windows cannot end a program with all that it has started. Run meup in WSL'

const reaperPath = fileURLToPath(new URL('./reaper.js', import.meta.url))
const SWEEP_POLL_MS = 20
/** Maximum checks whether killed processes have ended: one in uninterruptible I/O may survive SIGKILL for a long time. */
const SWEEP_ROUNDS = 100
/**
 * Milliseconds after the grace periods of `close` until this process kills the command itself, because the reaper has not done
 * so.
 */
const OVERDUE_MS = 1000

/**
 * Runs a command. When this process ends, for whatever reason, all processes of the command are stopped. A process escapes only
 * if it leaves the process group, outlives its parent and, on Linux, also drops its environment. Resolves when the command is
 * running; rejects with the `ProgramError` `cannot_start`, whose `systemCode` is a code such as `ENOENT`.
 */
export async function spawnChild(options: SpawnChildOptions): Promise<SupervisedChild> {
  const { command, args = [], env, cwd = '.', stdio = ['pipe', 'pipe', 'pipe'] } = options
  if (process.platform === 'win32') throw cannotStart(command, 'ENOSYS', onWindows)
  const { reaper, group, lifeline } = await startReaper(stdio)
  const gone = once(reaper, 'exit')
  const order = (message: Order) => void lifeline.write(`${JSON.stringify(message)}\n`)
  // Sends the command and its environment over the lifeline (the socket to the reaper) rather than as environment of the
  // reaper: it may contain secrets, and must not affect the reaper's own Node.
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
  // Ignores errors when writing to a reaper that has exited: `readReports` notices the exit.
  lifeline.on('error', () => {})
  return { reaper, group: reaper.pid, lifeline }
}

/** Prevents an uncaught error if stdin is a broken pipe. The caller gets the error of its write. */
function writing(stdin: ChildProcess['stdin']): Writable | null {
  stdin?.on('error', () => {})
  return stdin
}

/** Reads ahead into a buffer: when a process exits, Node discards output that has not been read. */
function reading(output: ChildProcess['stdout']): Readable | null {
  return output && pipeline(output, new PassThrough(), () => {})
}

/** Kills the processes that remain if the reaper ended early, or has not killed them in time. */
async function sweep(group: number, run: string, roots: readonly number[]): Promise<void> {
  let family = findProcessTree(group, run, roots)
  for (let round = 0; round < SWEEP_ROUNDS && family.length > 0; round++) {
    for (const pid of family) sendSignal(pid, 'SIGKILL')
    await sleep(SWEEP_POLL_MS)
    family = findProcessTree(group, run, family)
  }
}

function startError(command: string, report: Report | undefined): ProgramError {
  if (report && 'failed' in report) return cannotStart(command, report.failed.code, report.failed.reason)
  return cannotStart(command, 'UNKNOWN', 'its reaper ended before it ran')
}

const cannotStart = (command: string, systemCode: string, reason: string): ProgramError =>
  programError('cannot_start', { command, systemCode, reason })

/** Yields the reports of the reaper until it ends. */
async function* readReports(lifeline: Socket): AsyncGenerator<Report, undefined> {
  try {
    for await (const line of readLines(lifeline, LIFELINE_LIMIT)) yield JSON.parse(line)
  } catch (error) {
    // A system error counts as the end: when the reaper ends, the connection may be reset.
    if (!isSystemError(error)) throw error
  }
}

/**
 * Returns how the command exited; `undefined` if the reaper ended without a report. Keeps reading after the report, because the
 * end of reading would close the lifeline.
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
