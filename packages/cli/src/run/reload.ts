import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Config, SpaceEntry } from '../config/config.js'
import { print, printNotice } from '../lib/output.js'
import type { RunningGateway, Tokens } from './start-gateway.js'

/**
 * The terminal that this process was started in, if it was. SIGHUP means "read your files again" to a service and "the
 * window was closed" to a command; only the second takes the terminal away.
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

/** Ends this process at once, as a command without a terminal does: Node would fail to restore it, and abort. */
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
 * Reloads on SIGHUP, even one that comes before everything has started, and says what came of it: in lines on stderr, or
 * with `json` as an event on stdout.
 */
export function reloadOnDemand(
  starting: Promise<RunningGateway>,
  read: () => Config,
  { json, terminal }: { json: boolean; terminal: Terminal },
): {
  /** From now on also when a file changes. */
  watch(config: Config): Promise<void>
  stop(): Promise<void>
} {
  const started = starting.catch(() => undefined) // Whoever started it has been told.
  let isAwaited = false // A signal is answered even where nothing has changed; and so is the end of mistakes.
  const reloads = createSerialTask(async () => {
    const isAnswer = isAwaited
    isAwaited = false
    const running = await started
    if (running === undefined) return
    const report = await reload(running, read)
    if (isAnswer || Object.values(report).some((lines) => lines.length > 0)) printReload(report, json)
    isAwaited ||= report.problems.length > 0
  })
  process.on('SIGHUP', () => {
    if (terminal.isGone) {
      // Not before somebody waits for that signal, so that everything is closed in order.
      void started.then(() => process.kill(process.pid, 'SIGTERM'))
      return
    }
    isAwaited = true
    reloads.request()
  })
  let watching: { close(): Promise<void> } | undefined
  return {
    async watch(config) {
      watching = await watchFiles(config, {
        changed: reloads.request,
        failed: (error) =>
          printNotice(`✗ the files cannot be watched: ${String(error)}; SIGHUP still reloads`),
      })
    },
    async stop() {
      await watching?.close()
      await reloads.stop()
    },
  }
}

function printReload(report: ReloadReport, json: boolean): void {
  const { changes, later, problems } = report
  if (json) {
    print(JSON.stringify({ event: 'reloaded', ok: problems.length === 0, ...report }))
    return
  }
  for (const problem of problems) printNotice(`✗ ${problem}`)
  if (problems.length > 0) printNotice('what has mistakes was left as it was')
  if (later.length > 0) printNotice(`takes effect at the next start: ${later.join(', ')}`)
  printNotice(changes.length > 0 ? `reloaded: ${changes.join(', ')}` : 'reloaded: nothing has changed')
}

/** What became of a reload, in words for people. */
interface ReloadReport {
  readonly changes: readonly string[]
  /** What the file changes, but only a new start applies. */
  readonly later: readonly string[]
  /** Mistakes. Invalid changes are ignored. */
  readonly problems: readonly string[]
}

/** Goes over to what the file says now. One with mistakes changes nothing; tokens are read again all the same. */
async function reload(running: RunningGateway, read: () => Config): Promise<ReloadReport> {
  const { config, tokens, jwt } = running
  const { next, later, mistakes } = attempt(config, read)
  try {
    const problems = await running.reload(next)
    const changes = [
      ...describeChanges(config, running.config),
      ...tokenChanges(tokens, running.tokens, running.config),
      ...(JSON.stringify(jwt) === JSON.stringify(running.jwt) ? [] : ['auth.jwt or its keys changed']),
    ]
    return { changes, later, problems: [...mistakes, ...problems] }
  } catch (error) {
    return { changes: [], later, problems: [...mistakes, getErrorMessage(error)] }
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

const getErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function tokenChanges(before: Tokens, after: Tokens, { spaces }: Config): string[] {
  return spaces.flatMap(({ config: { name, participants } }) => {
    const [had, has] = [before[name] ?? {}, after[name] ?? {}]
    const where = spaces.length > 1 ? `${name}: ` : ''
    return Object.keys(participants)
      .filter((id) => had[id] !== has[id] && had[id] !== undefined)
      .map((id) => `${where}${id}'s token was ${has[id] === undefined ? 'revoked' : 'replaced'}`)
  })
}

/** Another version of a configuration, as far as what runs can go over to it. */
interface Applicable {
  readonly config: Config
  /** Changes that require a restart. */
  readonly later: readonly string[]
}

/** Who may enter and do what changes while a gateway runs; its address, its log and its spaces do not. */
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

/** Describes the differences between two versions. */
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

/**
 * Runs a task never twice at once: whoever asks while it runs is answered by one more run. The task handles its own
 * errors.
 */
export function createSerialTask(task: () => Promise<void>): {
  request(): void
  /** No run begins any more; resolves when the present one is over. */
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

/** Milliseconds: editors write a file in several steps. */
const settleMs = 100

interface WatchEvents {
  changed(): void
  /** Watching failed; changes may be missed from now on. */
  failed(error: unknown): void
}

/** Says when the configuration file or a token has changed. Resolves when nothing can be missed any more. */
async function watchFiles(
  { file, directory }: Config,
  { changed, failed }: WatchEvents,
): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar')
  const watcher = watch([file, join(directory, '.meup', 'tokens')], { ignoreInitial: true })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(changed, settleMs)
  })
  await new Promise<void>((resolve) => {
    watcher
      .on('error', failed)
      .on('error', () => resolve())
      .on('ready', () => resolve())
  })
  return {
    async close() {
      clearTimeout(timer)
      await watcher.close()
    },
  }
}
