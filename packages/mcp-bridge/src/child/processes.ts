import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isSystemError } from './lines.js'

interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
}

/** Lists running processes. Excludes zombies, which may stay forever if their parent does not wait for them. */
function readProcesses(): ProcessEntry[] {
  const rows = process.platform === 'linux' ? readProc() : readPs()
  return rows.filter(({ state }) => !state.startsWith('Z')).map(({ state: _, ...entry }) => entry)
}

/** The environment variable that all processes of a command inherit, with the id of the run. */
export const RUN_VARIABLE = 'MEUP_RUN'

/**
 * Finds the processes of a command: those in `group`, descendants of `roots` in any group and, on Linux, detached daemons by
 * their environment variable.
 */
export function findProcessTree(group: number, run: string, roots: Iterable<number>): number[] {
  const table = readProcesses()
  const isOurs = ({ pid, group: own }: ProcessEntry) => own === group || isOfRun(pid, run)
  const found = new Set(table.filter(isOurs).map(({ pid }) => pid))
  const ancestors = [...roots]
  for (const pid of ancestors) {
    if (table.some((entry) => entry.pid === pid)) found.add(pid)
    const children = table.filter((entry) => entry.parent === pid && !ancestors.includes(entry.pid))
    ancestors.push(...children.map((entry) => entry.pid))
  }
  return [...found]
}

/** Sends a signal to a process or, with a negative number, to a group. Ignores processes that have ended. */
export function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    // EPERM is ignored: macOS reports it for a group of zombies, and all systems report it for a process that has changed its
    // user.
    if (!isSystemError(error) || !['ESRCH', 'EPERM'].includes(error.code ?? '')) throw error
  }
}

/**
 * Whether a process has the environment variable of a run. Does not find processes that have overwritten their environment or
 * belong to another user.
 */
function isOfRun(pid: number, run: string): boolean {
  if (process.platform !== 'linux' || run === '') return false
  return `\0${readIfThere(`/proc/${pid}/environ`)}`.includes(`\0${RUN_VARIABLE}=${run}\0`)
}

type Row = ProcessEntry & { readonly state: string }

function toRow(pid: string, parent: string, group: string, state: string): Row {
  return { pid: Number(pid), parent: Number(parent), group: Number(group), state }
}

function readProc(): Row[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    const stat = readIfThere(`/proc/${pid}/stat`)
    // The second field is the program's name in parentheses, and may itself contain spaces and parentheses.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state && parent && group ? [toRow(pid, parent, group, state)] : []
  })
}

/** Reads a file; `''` if the process has ended in the meantime. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isSystemError(error)) return ''
    throw error
  }
}

function readPs(): Row[] {
  const { pid: own, stdout } = spawnSync('/bin/ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat='], {
    encoding: 'utf8',
  })
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/)
    return pid && parent && group && state && pid !== String(own) ? [toRow(pid, parent, group, state)] : []
  })
}
