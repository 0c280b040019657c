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
  /** The environment of the command; nothing but `MEUP_RUN` is added, by which what it starts is found again. */
  readonly env: Readonly<Record<string, string>>
  /** Relative to the working directory of this process, which is the default. */
  readonly cwd?: string
  /** stdin, stdout, stderr; all `pipe` by default. */
  readonly stdio?: readonly [StdioMode, StdioMode, StdioMode]
}

interface CloseOptions {
  /** How long the command may take to end once its stdin has ended, in ms; default 500. */
  readonly stdinGraceMs?: number
  /** How long it may take after SIGTERM, before SIGKILL, in ms; default 1000. */
  readonly termGraceMs?: number
}

export interface SupervisedChild extends AsyncDisposable {
  /** Of the command itself. */
  readonly pid: number
  /** The process group that the command runs in; its leader, of the same number, is the reaper. */
  readonly group: number
  /** Each null unless it is a pipe. */
  readonly stdin: Writable | null
  readonly stdout: Readable | null
  readonly stderr: Readable | null
  /** Resolves when the command itself has ended: what it had started may still be stopped. Not before `exited` if that is unknown. */
  readonly commandExited: Promise<ChildExit>
  /** Resolves when the command and everything it had started are gone; there may be output left to read. */
  readonly exited: Promise<ChildExit>
  /** Ends stdin, then SIGTERM, then SIGKILL, each after a grace. A second call may set a shorter one. */
  close(options?: CloseOptions): Promise<ChildExit>
}

/** The command could not be started; `code` is the system's, such as `ENOENT`. */
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

/** There are no process groups, and no signals that a program can answer. */
const onWindows = 'Windows cannot end a program with all that it has started: run meup in WSL'

const reaperPath = fileURLToPath(new URL('./reaper.js', import.meta.url))
const SWEEP_POLL_MS = 20
/** SIGKILL cannot be refused, but a process in the middle of I/O may be long in going: it is not waited for. */
const SWEEP_ROUNDS = 100
/** How late the reaper may be with an order before this process carries it out. */
const OVERDUE_MS = 1000

/**
 * Runs a command that ends, with everything it has started, when this process ends, however that happens.
 * Out of reach is only what leaves the process group, outlives the process that started it and, on Linux, also gives up
 * its environment.
 * Resolves once the command runs; rejects with CannotStartError.
 */
export async function spawnChild(options: SpawnChildOptions): Promise<SupervisedChild> {
  const { command, args = [], env, cwd = '.', stdio = ['pipe', 'pipe', 'pipe'] } = options
  if (process.platform === 'win32') throw new CannotStartError(command, 'ENOSYS', onWindows)
  const { reaper, group, lifeline } = await startReaper(stdio)
  const gone = once(reaper, 'exit')
  const order = (message: Order) => void lifeline.write(`${JSON.stringify(message)}\n`)
  // The environment may hold secrets, and must not steer the reaper's own node: it goes over the lifeline.
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
  exited.then(onCommandExit, () => {}) // Who waits for `exited` gets the error.
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
  // Writing to a reaper that has exited fails; its exit is handled elsewhere.
  lifeline.on('error', () => {})
  return { reaper, group: reaper.pid, lifeline }
}

/** A broken pipe fails the write; without a listener it would also be an uncaught error. */
function writing(stdin: ChildProcess['stdin']): Writable | null {
  stdin?.on('error', () => {})
  return stdin
}

/** When a process exits, node discards unread output that the caller had no chance to read yet. */
function reading(output: ChildProcess['stdout']): Readable | null {
  return output && pipeline(output, new PassThrough(), () => {})
}

/** For a reaper that went before its work was done, or cannot do it. */
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

/** What the reaper says, until it has gone. */
async function* readReports(lifeline: Socket): AsyncGenerator<Report, undefined> {
  try {
    for await (const line of readLines(lifeline, LIFELINE_LIMIT)) yield JSON.parse(line)
  } catch (error) {
    // A reset connection is one more way in which the reaper can go.
    if (!isSystemError(error)) throw error
  }
}

/** How the command ended, or undefined if the reaper went without saying it. Reads on, or the lifeline would be closed. */
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
