import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'

/** A server in its own process. */
export interface ServerProcess {
  readonly pid: number
  readonly port: number
  /** Processor time of all threads, in milliseconds. */
  cpu(): number
  /** Processor time of the main thread, in milliseconds. */
  cpuOfMain(): number
  /** Resident memory in bytes. */
  rss(): number
  /** Lines that the server has written to its standard error. */
  readonly said: readonly string[]
  stop(): Promise<void>
}

/** Cleanup to run if this process ends early. */
export const atExit = new Set<() => unknown>()
process.once('exit', () => {
  for (const clear of atExit) clear()
})

/** `MEUP_BENCH_PIN=0`: do not pin, because the machine also does other work and no time is measured. */
const canPin =
  process.env.MEUP_BENCH_PIN !== '0' &&
  availableParallelism() > 1 &&
  spawnSync('taskset', ['-p', `${process.pid}`], { stdio: 'ignore' }).status === 0

/** The cores that this process could use when it began, in the notation of `taskset`. */
const everyCore = /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'

/** Returns the command that runs a program on every core that this process had at its start, even if the process is pinned. */
export const onEveryCore = (command: string, args: readonly string[]): [command: string, args: string[]] =>
  canPin ? ['taskset', ['-c', everyCore, command, ...args]] : [command, [...args]]

/** Placement of servers and load on cores, for reports. */
export const pinning = canPin
  ? 'servers on core 0, the load generator on core 1'
  : 'nothing pinned to a core: there is but one, or no taskset, or MEUP_BENCH_PIN=0'

/** Puts this process on the core that servers do not run on. */
export function pinGenerator(): void {
  if (canPin) spawnSync('taskset', ['-acp', '1', `${process.pid}`], { stdio: 'ignore' })
}

export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Reads the port from a line of the server's standard output; absent = `port` is known. */
  readonly portOf?: (line: string) => number | undefined
  readonly port?: number
}

/** Starts a server, pinned to its core. Resolves once it listens. */
export async function startServer({
  command,
  args,
  cwd,
  portOf,
  port,
}: ServerCommand): Promise<ServerProcess> {
  const [file, all] = canPin ? ['taskset', ['-c', '0', command, ...args]] : [command, [...args]]
  const child = spawn(file, all, { ...(cwd && { cwd }), stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line))
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = (): unknown => child.kill('SIGKILL')
  atExit.add(kill)
  const forget = (): void => void atExit.delete(kill)
  ended.then(forget, forget)
  const listening = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${said.join('\n')}`)))
    if (port !== undefined) resolve(port)
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = portOf?.(line)
      if (found !== undefined) resolve(found)
    })
  })
  const bound = await listening
  const pid = child.pid ?? 0
  return {
    pid,
    port: bound,
    said,
    cpu: () => cpuOf(pid),
    cpuOfMain: () => cpuOfThread(pid, `${pid}`),
    rss: () => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
    async stop() {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), 5000)
      await ended
      clearTimeout(late)
    },
  }
}

/** Sums the processor time of all threads. No thread of a server ends before its process, so the sum is complete. */
const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + cpuOfThread(pid, thread), 0)

function cpuOfThread(pid: number, thread: string): number {
  const nanoseconds = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]
  return Number(nanoseconds) / 1e6
}
