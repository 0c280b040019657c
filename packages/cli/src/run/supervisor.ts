import { randomUUID } from 'node:crypto'
import { relative } from 'node:path'
import { type Clock, systemClock } from '@meup/gateway'
import type { ProgramInfo } from '@meup/protocol'
import type { Program } from '../config/config.js'
import type { OperatorLog } from '../lib/logger.js'
import { logProgramEvent, type ProgramName } from './describe-program.js'
import {
  type Keeper,
  keepRunning,
  type ProgramEvent,
  type ProgramStatus,
  type Running,
} from './keep-running.js'
import { listPrograms } from './list-programs.js'
import type { ProgramEnd } from './restart-policy.js'
import { findSources, SourceWatch } from './sources.js'
import type { RunningGateway } from './start-gateway.js'
import { type ProgramConnection, startProgram } from './start-program.js'

/** A program and the participant that it connects as. */
export interface ProgramAssignment {
  readonly program: Program
  readonly connection: Omit<ProgramConnection, 'session'>
  readonly label: string
}

/** The gateway functions that a supervisor uses. */
export type ProgramSpaces = Pick<
  RunningGateway,
  'isPresent' | 'findKick' | 'setProgram' | 'endProgram' | 'isReplaced'
>

export type ProgramListener = (name: ProgramName, event: ProgramEvent) => void

export interface SupervisorOptions {
  readonly spaces: ProgramSpaces
  readonly log: OperatorLog
  readonly onEvent?: ProgramListener
  readonly clock?: Clock
  readonly random?: () => number
}

interface Runner {
  readonly name: ProgramName
  /** JSON of the program and its token; a different one means that it has to be restarted. */
  readonly fingerprint: string
  readonly keeper: Keeper
  /** Removes the program's state from the space, because it is no longer configured. */
  forget(): void
  close(): Promise<void>
}

/** Runs the programs of a gateway. A program that fails does not affect the others. */
export class Supervisor {
  readonly #options: SupervisorOptions
  /**
   * The programs that run or wait for a restart, by label: `participant`, or `space/participant` if there are several spaces.
   */
  readonly #runners = new Map<string, Runner>()
  /** Promises, by label, that resolve when a stopped program has ended. */
  readonly #left = new Map<string, Promise<void>>()

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Stops programs that are no longer configured, or whose configuration changed. */
  stopOthers(wanted: readonly ProgramAssignment[]): void {
    const fingerprints = new Map(wanted.map((each) => [each.label, fingerprint(each)]))
    for (const [label, runner] of this.#runners) {
      if (fingerprints.get(label) === runner.fingerprint) continue
      this.#stop(label, runner)
      if (!fingerprints.has(label)) runner.forget()
    }
  }

  /** Starts programs that are not running; each waits until a stopped program with the same label has ended. */
  start(wanted: readonly ProgramAssignment[]): void {
    for (const assignment of wanted) {
      const { label } = assignment
      if (!this.#runners.has(label)) this.#runners.set(label, this.#run(assignment))
    }
  }

  list(): { readonly name: ProgramName; readonly status: ProgramStatus }[] {
    return [...this.#runners.values()].map(({ name, keeper }) => ({ name, status: keeper.status }))
  }

  /** Restarts a program, whatever its state. */
  restart(label: string): void {
    const runner = this.#runners.get(label)
    if (runner === undefined) return
    const { participant } = runner.name
    this.#options.log.program('notice', { participant }, `restarting ${label}, as meup restart asks`)
    runner.keeper.restart('request')
  }

  async close(): Promise<void> {
    for (const [label, runner] of this.#runners) this.#stop(label, runner)
    await Promise.all(this.#left.values())
  }

  #stop(label: string, runner: Runner): void {
    this.#runners.delete(label)
    const left = runner.close().catch((err: unknown) => {
      this.#options.log.error({ participant: label, err }, `${label} could not be stopped`)
    })
    this.#left.set(label, left)
  }

  #run(assignment: ProgramAssignment): Runner {
    const { program, connection, label } = assignment
    const { spaces, log, onEvent, clock = systemClock, random = Math.random } = this.#options
    const { space, participant } = connection
    const predecessor = this.#left.get(label)
    const files = this.#watchFiles(assignment, () => keeper)
    const name: ProgramName = {
      ...{ space, participant, label },
      get isWatched() {
        return files?.isWatching === true
      },
    }
    const announce = createAnnouncer(name, this.#options)
    let isForgotten = false // Ignores later events of a program that was still starting.
    const keeper: Keeper = keepRunning({
      restart: program.kind === 'process' ? program.restart : 'on-failure',
      lateMs: getLateMs(program),
      ...{ clock, random },
      isPresent: () => spaces.isPresent(space, participant),
      findKick: () => spaces.findKick(space, participant),
      async start(signal) {
        await predecessor
        signal.throwIfAborted()
        files?.mark()
        return startNamed(assignment, spaces, signal)
      },
      onEvent: (event, status) => {
        logProgramEvent(name, event, log)
        if (!isForgotten) announce(toProgramInfo(status))
        onEvent?.(name, event)
      },
    })
    return {
      ...{ name, keeper },
      fingerprint: fingerprint(assignment),
      forget() {
        isForgotten = true
        announce(undefined)
        onEvent?.(name, { type: 'removed' })
      },
      async close() {
        files?.close()
        await keeper.close()
      },
    }
  }

  /** Watches the files of a process, and restarts it when they change, unless `watch` is off. */
  #watchFiles(
    { program, connection, label }: ProgramAssignment,
    getKeeper: () => Keeper,
  ): SourceWatch | undefined {
    if (program.kind !== 'process' || !program.watch) return undefined
    const { log } = this.#options
    const { participant, directory } = connection
    return new SourceWatch({
      read: () => findSources(program, directory),
      isWaiting: () => getKeeper().status.state === 'resting',
      changed(paths) {
        const names = paths.map((path) => relative(directory, path))
        log.program(
          'notice',
          { participant, files: names },
          `${names.join(', ')} changed; restarting ${label}`,
        )
        getKeeper().restart('files')
      },
      failed: (err) => log.warn({ participant, err }, `the files of ${label} cannot be watched`),
    })
  }
}

/**
 * Starts a program with a new session id, and notifies the gateway immediately when it ends, so that requests to its
 * participant do not wait until it returns. If another program has joined as the same participant, this one is not
 * restarted: both would replace each other forever.
 */
async function startNamed(
  { program, connection }: ProgramAssignment,
  spaces: ProgramSpaces,
  signal: AbortSignal,
): Promise<Running> {
  const session = randomUUID()
  const { space, participant } = connection
  const end = (ending: ProgramEnd): ProgramEnd => {
    const isReplaced = spaces.isReplaced(space, participant, session)
    spaces.endProgram(space, participant, session)
    if (!isReplaced) return ending
    return { failed: true, isFinal: true, reason: `another program has joined as ${participant}` }
  }
  try {
    const running = await startProgram(program, { ...connection, session }, signal)
    return { ended: running.ended.then(end), close: (graceMs) => running.close(graceMs) }
  } catch (error) {
    spaces.endProgram(space, participant, session)
    throw error
  }
}

/** Lists the programs to run, without those whose token is revoked: they cannot connect. */
export function listAssignments(
  { config, tokens, url }: Pick<RunningGateway, 'config' | 'tokens' | 'url'>,
  log: OperatorLog,
): ProgramAssignment[] {
  const { directory } = config
  return listPrograms(config).flatMap(({ space, participant, label, program }) => {
    const token = tokens[space]?.[participant]
    if (token === undefined) return []
    return [{ program, label, connection: { url, space, participant, token, directory, log } }]
  })
}

const fingerprint = ({ program, connection }: ProgramAssignment): string =>
  JSON.stringify([program, connection.token])

/** Default time after which a program that has not joined is late. */
const usualLateMs = 10_000

/** For kind `process`, `startTimeout` only delays the late warning; other kinds are stopped after it. */
const getLateMs = ({ kind, startTimeoutMs = usualLateMs }: Program): number =>
  kind === 'process' ? startTimeoutMs : Math.min(usualLateMs, startTimeoutMs)

const toProgramInfo = ({ state, count }: ProgramStatus): ProgramInfo => ({
  state,
  ...(state !== 'running' && count > 0 && { count }),
})

/** Returns a function that records a program's state in its space if it has changed. */
function createAnnouncer(
  { space, participant, label }: ProgramName,
  { spaces, log }: SupervisorOptions,
): (info: ProgramInfo | undefined) => void {
  let last: string | undefined
  return (info) => {
    const text = JSON.stringify(info)
    if (text === last) return
    last = text
    try {
      spaces.setProgram(space, participant, info)
    } catch (err) {
      log.warn({ participant, err }, `the state of ${label} could not be logged`)
    }
  }
}
