import { closeSync, openSync } from 'node:fs'
import { basename, join } from 'node:path'
import { getErrorMessage } from '@meup/protocol'
import type { Config, SpaceEntry } from '../config/config.js'
import { getSecretFolder } from '../config/secrets.js'
import { findConfigWarnings } from '../lib/capabilities.js'
import { formatClock } from '../lib/logger.js'
import { print, printNotice } from '../lib/output.js'
import { FileWatch } from './file-watch.js'
import type { RunningGateway, TokensBySpace } from './start-gateway.js'

/**
 * The terminal of this process, if any. SIGHUP tells a service to reload, but also arrives when the terminal's window is
 * closed: `isGone` then.
 */
interface Terminal {
  readonly isGone: boolean
}

export function findTerminal(): Terminal {
  const isThere = process.stderr.isTTY === true
  return {
    get isGone() {
      return isThere && !canOpen('/dev/tty')
    },
  }
}

/** Exits without Node's exit handlers, which abort the process if they cannot restore the terminal. */
export function endHungUp(): void {
  process.removeAllListeners('SIGHUP')
  process.kill(process.pid, 'SIGHUP')
}

function canOpen(file: string): boolean {
  try {
    closeSync(openSync(file, 'r'))
    return true
  } catch {
    return false
  }
}

/**
 * Reloads the configuration on SIGHUP, even during the start, and prints the result: lines on stderr, or with `json` an event
 * on stdout.
 */
export function reloadOnDemand(
  starting: Promise<RunningGateway>,
  read: () => Config,
  { json, terminal }: { json: boolean; terminal: Terminal },
): {
  /** Also reloads whenever files change, from now on. */
  watch(config: Config): void
  /** Prints from now on that the configuration file has changed. */
  announceEdits(config: Config): void
  stop(): Promise<void>
} {
  const started = starting.catch(() => undefined) // The caller handles the rejection.
  let isSignalled = false
  let hadProblems = false
  let doApply = false // Apply changed files, not only after a signal.
  const reloads = createSerialTask(async () => {
    const isAnswer = isSignalled
    isSignalled = false
    const running = await started
    if (running === undefined) return
    if (!isAnswer && !doApply) {
      if (isEdited(running.config, read)) printNotice(describeEdit(running.config))
      return
    }
    const report = await reload(running, read)
    const isNews = hadProblems || Object.values(report).some((lines) => lines.length > 0)
    if (isAnswer || isNews) printReload(report, json)
    hadProblems = report.problems.length > 0
  })
  process.on('SIGHUP', () => {
    if (terminal.isGone) {
      // The terminal is gone. Waits for the start to finish, so that the regular shutdown closes everything.
      const end = (): void => void process.kill(process.pid, 'SIGTERM')
      started.then(end, end)
      return
    }
    isSignalled = true
    reloads.request()
  })
  let files: FileWatch | undefined
  const follow = (paths: readonly string[], settleMs: number): void => {
    const failed = (error: unknown): void => {
      printNotice(`✗ the files cannot be watched: ${String(error)}; SIGHUP still reloads`)
    }
    files = new FileWatch({ settleMs, changed: reloads.request, failed })
    files.follow(paths)
  }
  return {
    watch({ file, directory }) {
      doApply = true
      follow([file, join(directory, '.meup', 'tokens'), getSecretFolder(directory)], applyMs)
    },
    announceEdits({ file }) {
      follow([file], editMs)
    },
    async stop() {
      files?.close()
      await reloads.stop()
    },
  }
}

/** Whether the configuration file differs from the running configuration, or has mistakes. */
function isEdited(current: Config, read: () => Config): boolean {
  try {
    return !isSame(current, read())
  } catch {
    return true
  }
}

const describeEdit = ({ file }: Config): string =>
  `${formatClock(Date.now())}  ${basename(file)} changed; to apply it, end meup with Ctrl+C and start it again, with --watch to apply changes at once`

function printReload(report: ReloadReport, json: boolean): void {
  const { changes, later, problems, warnings } = report
  if (json) {
    print(JSON.stringify({ event: 'reloaded', ok: problems.length === 0, ...report }))
    return
  }
  for (const problem of problems) printNotice(`✗ ${problem}`)
  for (const warning of warnings) printNotice(`! ${warning}`)
  if (problems.length > 0) printNotice('what has mistakes was left as it was')
  if (later.length > 0) printNotice(`takes effect at the next start: ${later.join(', ')}`)
  printNotice(changes.length > 0 ? `reloaded: ${changes.join(', ')}` : 'reloaded: nothing has changed')
}

/** Lines to print after a reload. */
interface ReloadReport {
  readonly changes: readonly string[]
  /** Changes that take effect after a restart. */
  readonly later: readonly string[]
  /** Mistakes in files; the affected settings stay as they were. */
  readonly problems: readonly string[]
  /** Warnings that the configuration did not have before. */
  readonly warnings: readonly string[]
}

/** Reloads the configuration. If the file has mistakes, only tokens and keys are read again. */
export async function reload(
  running: Pick<RunningGateway, 'config' | 'tokens' | 'jwt' | 'reload'>,
  read: () => Config,
): Promise<ReloadReport> {
  const { config, tokens, jwt } = running
  const { next, later, mistakes } = attempt(config, read)
  const known = findConfigWarnings(config)
  const warnings = findConfigWarnings(next).filter((warning) => !known.includes(warning))
  try {
    const problems = await running.reload(next)
    const changes = [
      ...describeChanges(config, running.config),
      ...tokenChanges(tokens, running.tokens, running.config),
      ...(JSON.stringify(jwt) === JSON.stringify(running.jwt) ? [] : ['auth.jwt or its keys changed']),
    ]
    return { changes, later, problems: [...mistakes, ...problems], warnings }
  } catch (error) {
    return { changes: [], later, problems: [...mistakes, getErrorMessage(error)], warnings }
  }
}

function attempt(current: Config, read: () => Config) {
  try {
    const { config, later } = selectApplicable(current, read())
    return { next: config, later, mistakes: [] }
  } catch (error) {
    return { next: current, later: [], mistakes: getErrorMessage(error).split('\n') }
  }
}

function tokenChanges(before: TokensBySpace, after: TokensBySpace, { spaces }: Config): string[] {
  return spaces.flatMap(({ config: { name, participants } }) => {
    const [had, has] = [before[name] ?? {}, after[name] ?? {}]
    const where = spaces.length > 1 ? `${name}: ` : ''
    return Object.keys(participants)
      .filter((id) => had[id] !== has[id] && had[id] !== undefined)
      .map((id) => `${where}${id}'s token was ${has[id] === undefined ? 'revoked' : 'replaced'}`)
  })
}

/** The part of a new configuration that takes effect without a restart. */
interface Applicable {
  readonly config: Config
  /** Changes that take effect after a restart. */
  readonly later: readonly string[]
}

/** Selects changes of participants, rights and authentication; address, log and the list of spaces need a restart. */
export function selectApplicable(current: Config, next: Config): Applicable {
  const later = (['gateway', 'storage', 'several'] as const).filter((key) => !isSame(current[key], next[key]))
  const named = new Map(next.spaces.map((entry) => [entry.config.name, entry]))
  const running = current.spaces.map(({ config }) => config.name)
  const added = [...named.keys()].filter((name) => !running.includes(name))
  const removed = running.filter((name) => !named.has(name))
  const spaces = current.spaces.map((entry) => named.get(entry.config.name) ?? entry)
  return {
    config: { ...current, auth: next.auth, spaces },
    later: [
      ...later.map((key) => labels[key]),
      ...added.map((name) => `the new space ${name}`),
      ...removed.map((name) => `the end of the space ${name}`),
    ],
  }
}

const labels = {
  gateway: 'gateway',
  storage: 'storage',
  several: 'space or spaces',
} as const

/** Describes the differences between two configurations. */
export function describeChanges(current: Config, next: Config): string[] {
  return next.spaces.flatMap((entry) => {
    const { name } = entry.config
    const before = current.spaces.find(({ config }) => config.name === name)
    if (before === undefined) return []
    const where = next.spaces.length > 1 ? `${name}: ` : ''
    return [...peopleChanges(before, entry), ...settingChanges(before, entry)].map((change) => where + change)
  })
}

function peopleChanges(before: SpaceEntry, after: SpaceEntry): string[] {
  const [had, has] = [before.config.participants, after.config.participants]
  const changed = Object.keys(has).flatMap((id) => {
    const [was, is] = [had[id], has[id]]
    if (was === undefined) return [`${id} was added`]
    const aspects = [
      ...(isSame(was.kind, is?.kind) ? [] : ['another kind']),
      ...(isSame(was.capabilities, is?.capabilities) ? [] : ['other capabilities']),
      ...(isSame(was.rates, is?.rates) ? [] : ['other rates']),
      ...(isSame(before.programs[id], after.programs[id]) ? [] : ['another program']),
    ]
    return aspects.map((aspect) => `${id} has ${aspect}`)
  })
  const removed = Object.keys(had).filter((id) => !Object.hasOwn(has, id))
  return [...changed, ...removed.map((id) => `${id} was removed`)]
}

const settingChanges = ({ config: was }: SpaceEntry, { config: is }: SpaceEntry): string[] =>
  (['limits', 'reasoning', 'safety', 'mcp', 'defaults', 'guest', 'retention'] as const)
    .filter((key) => !isSame(was[key], is[key]))
    .map((key) => `${key} changed`)

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Runs a task that never overlaps itself: requests during a run cause one further run. The task must not reject. */
export function createSerialTask(task: () => Promise<void>): {
  request(): void
  /** Prevents further runs; resolves when the current one has ended. */
  stop(): Promise<void>
} {
  let running: Promise<void> | undefined
  let asked = false
  let stopped = false

  async function run(): Promise<void> {
    while (asked && !stopped) {
      asked = false
      await task()
    }
    running = undefined
  }

  return {
    request() {
      asked = true
      running ??= run()
    },
    async stop() {
      stopped = true
      await running
    },
  }
}

/**
 * Milliseconds without a further change before files are applied, and before an edit is announced: editors write a file in
 * several steps. An announcement waits longer, because commands that edit the file then send SIGHUP, which applies it.
 */
const [applyMs, editMs] = [100, 1000]
