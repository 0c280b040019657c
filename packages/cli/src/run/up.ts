import type { Config } from '../config/config.js'
import type { OperatorLog } from '../lib/logger.js'
import { type RunningGateway, type StartOptions, startGateway } from './start-gateway.js'
import type { ProgramAssignment, Supervisor } from './supervisor.js'

/** A gateway and its programs. */
export interface RunningSpaces extends RunningGateway {
  /** The participants that are programs, as of the start. */
  readonly programs: readonly Member[]
  /**
   * Resolves when all programs are started and tool servers answer; they join by themselves soon afterwards. Rejects if one
   * cannot be started, unless everything is being closed.
   */
  readonly started: Promise<void>
}

export interface Member {
  readonly space: string
  readonly participant: string
}

/**
 * Runs the gateway of a configuration and its programs, on the next free port if the configured one is in use. Rejects if a program
 * cannot be started. After a reload, failures are logged, and the next reload tries again.
 */
export async function up(config: Config, log: OperatorLog): Promise<RunningGateway> {
  const running = await launch(config, log, { mayMove: true })
  try {
    await running.started
    return running
  } catch (error) {
    await running.close()
    throw error
  }
}

/** The same, but resolves as soon as the gateway listens. */
export async function launch(
  config: Config,
  log: OperatorLog,
  options: StartOptions,
): Promise<RunningSpaces> {
  const gateway = await startGateway(config, log, options)
  let isClosing = false
  const loading = import('./supervisor.js').then(({ listAssignments, Supervisor }) => ({
    fleet: new Supervisor(log),
    assignmentsIn: (running: Parameters<typeof listAssignments>[0]) => listAssignments(running, log),
  }))
  const warnAboutRevokedTokens = (): void => {
    for (const name of listRevokedPrograms(gateway)) {
      log.warn({}, `${name} is not started: its token is revoked; meup token create gives it a new one`)
    }
  }

  async function start(): Promise<void> {
    const { fleet, assignmentsIn } = await loading
    warnAboutRevokedTokens()
    await startAll(fleet, assignmentsIn(gateway))
  }

  const startAll = async (fleet: Supervisor, wanted: readonly ProgramAssignment[]): Promise<void> => {
    if (isClosing) return
    const starts = fleet.start(wanted)
    gateway.warmUp()
    await Promise.all(starts)
  }

  const started = start().catch((error: unknown) => {
    if (!isClosing) throw error
  })
  started.catch(() => {}) // Handled where it is awaited.
  return {
    url: gateway.url,
    spaces: gateway.spaces,
    programs: listMembers(gateway),
    started,
    get config() {
      return gateway.config
    },
    get tokens() {
      return gateway.tokens
    },
    get jwt() {
      return gateway.jwt
    },
    isPresent: gateway.isPresent,
    warmUp: gateway.warmUp,
    async reload(next) {
      const { fleet, assignmentsIn } = await loading
      // First, so that a removed program does not see its connection closed and report a failure.
      fleet.stopOthers(assignmentsIn({ ...gateway, config: next }))
      try {
        return await gateway.reload(next)
      } finally {
        warnAboutRevokedTokens()
        const now = assignmentsIn(gateway)
        fleet.stopOthers(now)
        for (const each of fleet.start(now)) {
          each.catch((err: unknown) => log.error({ err }, 'a program could not be started'))
        }
      }
    },
    async close() {
      isClosing = true
      const { fleet } = await loading
      await fleet.close()
      await gateway.close()
    },
  }
}

const listMembers = ({ config, tokens }: RunningGateway): Member[] =>
  config.spaces.flatMap(({ config: { name: space }, programs }) =>
    Object.keys(programs)
      .filter((participant) => tokens[space]?.[participant] !== undefined)
      .map((participant) => ({ space, participant })),
  )

/** Participants that are programs, but have no token. */
const listRevokedPrograms = ({ config, tokens }: RunningGateway): string[] =>
  config.spaces.flatMap(({ config: { name }, programs }) =>
    Object.keys(programs).filter((participant) => tokens[name]?.[participant] === undefined),
  )
