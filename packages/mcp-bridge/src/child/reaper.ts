import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { getErrorMessage } from '@meup/protocol'
import { isSystemError, readLines } from './lines.js'
import { LIFELINE_FD, LIFELINE_LIMIT, type Order, type Report, type StartOrder } from './messages.js'
import { findProcessTree, RUN_VARIABLE, sendSignal } from './processes.js'

// A separate program that runs one command, and ensures that none of the command's processes outlive the parent process. It
// leads a process group with the command, and holds one end of a socket, the lifeline. However the parent ends, the kernel
// closes the other end, and the reaper then stops the group.

const GRACE_MS = 500
const POLL_MS = 20

const lifeline = new Socket({ fd: LIFELINE_FD })
let processTree: readonly number[] = []
let run = ''
let deadline: number | undefined
let owesReport = false

/** Finds the running processes of the command, in this group or, as far as possible, outside of it. */
function refreshProcessTree(): readonly number[] {
  processTree = findProcessTree(process.pid, run, [process.pid, ...processTree]).filter(
    (pid) => pid !== process.pid,
  )
  return processTree
}

/**
 * Sends SIGTERM to all processes of the command, and SIGKILL to the remaining ones after the grace period. A second call only
 * changes the deadline.
 */
function stop(graceMs: number): void {
  const first = deadline === undefined
  deadline = performance.now() + graceMs
  if (!first) return
  setInterval(finish, POLL_MS)
  for (const pid of refreshProcessTree()) sendSignal(pid, 'SIGTERM')
  finish()
}

function stopUnlessStopping(): void {
  if (deadline === undefined) stop(GRACE_MS)
}

function finish(): void {
  if (deadline !== undefined && performance.now() >= deadline) {
    for (const pid of processTree) sendSignal(pid, 'SIGKILL')
    // Kills the whole group, including this process, so that no concurrently forked process survives.
    sendSignal(-process.pid, 'SIGKILL')
  }
  if (refreshProcessTree().length === 0 && !owesReport) process.exit(0)
}

function report(message: Report, then?: () => void): void {
  lifeline.write(`${JSON.stringify(message)}\n`, then)
}

function fail(order: StartOrder, error: unknown): void {
  const code = (isSystemError(error) && error.code) || 'UNKNOWN'
  report({ failed: { code, reason: explain(order, code, error) } }, stopUnlessStopping)
}

function explain({ command, cwd }: StartOrder, code: string, error: unknown): string {
  if (code === 'ENOENT' && !existsSync(cwd)) return `the working directory ${cwd} does not exist`
  if (code === 'ENOENT' && command.includes('/')) return 'there is no such file'
  if (code === 'ENOENT') return 'the command was not found on the PATH of its environment'
  if (code === 'EACCES') return 'the file may not be executed'
  return getErrorMessage(error)
}

function start(order: StartOrder): void {
  try {
    const { command, args, env, cwd } = order
    run = order.run
    watch(order, spawn(command, args, { env: { ...env, [RUN_VARIABLE]: run }, cwd, stdio: 'inherit' }))
  } catch (error) {
    fail(order, error)
  }
}

function watch(order: StartOrder, command: ChildProcess): void {
  const { pid } = command
  command.on('error', (error) => fail(order, error))
  if (pid === undefined) return
  releaseStdio()
  report({ started: { pid } })
  owesReport = true
  command.on('exit', (code, signal) => {
    report({ exited: { code, signal } }, () => {
      owesReport = false
      stopUnlessStopping()
    })
  })
}

/** Closes the reaper's copies of the pipes. Otherwise the parent would not notice when the command closes its output. */
function releaseStdio(): void {
  for (const fd of [0, 1, 2]) {
    closeSync(fd)
    openSync('/dev/null', 'r+')
  }
}

function executeOrder(order: Order): void {
  if ('start' in order) start(order.start)
  else stop(order.stop.graceMs)
}

// If writing fails, the parent has ended. An exception in the reaper must not leave the command running.
lifeline.on('error', stopUnlessStopping)
process.on('uncaughtException', stopUnlessStopping)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stopUnlessStopping)

for await (const line of readLines(lifeline, LIFELINE_LIMIT)) executeOrder(JSON.parse(line))
stop(GRACE_MS)
