import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { isSystemError } from './lines.js'

interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
}

/** Processes that can still run. Excludes zombies, which stay forever if nothing reaps them. */
function readProcesses(): ProcessEntry[] {
  const rows = process.platform === 'linux' ? readProc() : readPs()
  return rows.filter(({ state }) => !state.startsWith('Z')).map(({ state: _, ...entry }) => entry)
}

/** An environment variable that every process of the command inherits. */
export const RUN_VARIABLE = 'MEUP_RUN'

/**
 * The processes of a group, the descendants of the `roots` in any group, and on Linux also detached daemons, found by the
 * environment variable.
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

/** Sends a signal to a process, or to a group by a negative number. Ignores ended ones. */
export function sendSignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal)
  } catch (error) {
    // EPERM: macOS reports it for a group of zombies, and every system for a process that has changed its user.
    if (!isSystemError(error) || !['ESRCH', 'EPERM'].includes(error.code ?? '')) throw error
  }
}

/** Misses a process that has overwritten its environment or belongs to another user. */
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
    // The second field, the program's name in parentheses, may contain spaces and parentheses.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return state && parent && group ? [toRow(pid, parent, group, state)] : []
  })
}

/** A process may end between listing and reading. */
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
