import { relative } from 'node:path'
import type { Readable } from 'node:stream'
import { connect } from '@meup/agent-sdk'
import { bridgeMcpServer, CannotStartError, readLines, spawnChild } from '@meup/mcp-bridge'
import type { AcpProgram, McpProgram, ProcessProgram, Program, RemoteProgram } from '../config/config.js'
import { Failure, getRemedy } from '../failure/failure.js'
import type { OperatorLog, OutputLine } from '../lib/logger.js'
import { type Keeper, keepRunning, type Running } from './keep-running.js'
import { findSources, SourceWatch } from './sources.js'
import type { RunningGateway } from './start-gateway.js'

/** A program and the participant that it connects as. */
export interface ProgramAssignment {
  readonly program: Program
  readonly connection: ProgramConnection
}

interface Runner {
  readonly orders: string
  close(): Promise<void>
}

/** Starts and stops the programs of a gateway. */
export class Supervisor {
  readonly #log: OperatorLog
  readonly #runners = new Map<string, Runner>()
  /** By participant: resolves when the program that was stopped there has ended. */
  readonly #left = new Map<string, Promise<void>>()

  constructor(log: OperatorLog) {
    this.#log = log
  }

  /** Stops programs that are no longer configured, or configured differently. */
  stopOthers(wanted: readonly ProgramAssignment[]): void {
    const orders = new Map(wanted.map((each) => [toPlace(each.connection), fingerprint(each)]))
    for (const [place, runner] of this.#runners) {
      if (orders.get(place) === runner.orders) continue
      this.#runners.delete(place)
      const left = runner.close().catch((err: unknown) => {
        this.#log.error({ place, err }, `${place} could not be stopped`)
      })
      this.#left.set(place, left)
    }
  }

  /** Starts the programs that do not run yet, each after its predecessor has ended. Returns a promise for each. */
  start(wanted: readonly ProgramAssignment[]): Promise<void>[] {
    const missing = wanted.filter(({ connection }) => !this.#runners.has(toPlace(connection)))
    return missing.map(async (assignment) => {
      const { program, connection } = assignment
      const place = toPlace(connection)
      const { started, close } = startProgram(program, connection, this.#left.get(place))
      const runner = { orders: fingerprint(assignment), close }
      this.#runners.set(place, runner)
      try {
        await started
      } catch (error) {
        if (this.#runners.get(place) === runner) this.#runners.delete(place)
        throw error
      }
    })
  }

  async close(): Promise<void> {
    this.stopOthers([])
    await Promise.all(this.#left.values())
  }
}

/** Lists the programs to run. Leaves out those with a revoked token, which cannot connect. */
export function listAssignments(
  { config, tokens, url }: Pick<RunningGateway, 'config' | 'tokens' | 'url'>,
  log: OperatorLog,
): ProgramAssignment[] {
  const { directory } = config
  return config.spaces.flatMap(({ config: { name: space }, programs }) =>
    Object.entries(programs).flatMap(([participant, program]) => {
      const token = tokens[space]?.[participant]
      if (token === undefined) return []
      return [{ program, connection: { url, space, participant, token, directory, log } }]
    }),
  )
}

const toPlace = ({ space, participant }: ProgramConnection): string => `${space}/${participant}`
const fingerprint = ({ program, connection }: ProgramAssignment): string =>
  JSON.stringify([program, connection.token])

interface ProgramConnection {
  readonly url: string
  readonly space: string
  readonly participant: string
  readonly token: string
  /** The folder of the configuration file. */
  readonly directory: string
  readonly log: OperatorLog
}

interface StartedProgram {
  readonly started: Promise<void>
  close(): Promise<void>
}

/** Starts a program once its participant is not connected, and keeps it running. */
export function startProgram(
  program: Program,
  connection: ProgramConnection,
  free: Promise<void> = Promise.resolve(),
): StartedProgram {
  const { started, close } =
    program.kind === 'process'
      ? keepProcess(program, connection, free)
      : keepServer(program, connection, free)
  return {
    started: started.catch((error: unknown) => {
      throw explainStartError(error, program, connection.participant)
    }),
    close,
  }
}

/** What to do about a program that does not start; other errors stay as they are. */
function explainStartError(cause: unknown, program: Program, participant: string): unknown {
  if (cause instanceof CannotStartError) {
    const { command, reason } = cause
    return new Failure('missing_program', { participant, command, reason }, { cause })
  }
  // The bridges say what has not started.
  if (!(cause instanceof Error) || !/^the tool server|did not start/.test(cause.message)) return cause
  const remedy =
    program.kind === 'acp' ? 'failed_agent' : 'url' in program ? 'unreachable_server' : 'failed_server'
  return new Error(`${cause.message}; ${getRemedy(remedy)}`, { cause })
}

/** A tool server, or a coding agent: it joins through a bridge. */
function keepServer(
  program: McpProgram | RemoteProgram | AcpProgram,
  connection: ProgramConnection,
  free: Promise<void>,
): StartedProgram {
  return keepRunning({
    name: connection.participant,
    log: connection.log,
    restart: 'on-failure',
    isWatched: () => false,
    async start(signal) {
      await free
      return program.kind === 'acp' ? startAcp(program, connection) : startMcp(program, connection, signal)
    },
  })
}

/** Also restarts it when its files change, unless `watch` is off. */
function keepProcess(
  program: ProcessProgram,
  connection: ProgramConnection,
  free: Promise<void>,
): StartedProgram {
  const { participant, directory, log } = connection
  const files = program.watch
    ? new SourceWatch({
        read: () => findSources(program, directory),
        isWaiting: () => keeper.isWaiting,
        changed(paths) {
          const names = paths.map((path) => relative(directory, path))
          log.notice({ participant, files: names }, `${names.join(', ')} changed; restarting ${participant}`)
          keeper.restart()
        },
        failed: (err) => log.warn({ participant, err }, `the files of ${participant} cannot be watched`),
      })
    : undefined
  const keeper: Keeper = keepRunning({
    name: participant,
    log,
    restart: program.restart,
    isWatched: () => files?.isWatching === true,
    async start() {
      await free
      files?.mark()
      return startProcess(program, connection)
    },
  })
  return {
    started: keeper.started.catch(async (error: unknown) => {
      await files?.close()
      throw error
    }),
    async close() {
      await files?.close()
      await keeper.close()
    },
  }
}

/** Variables of this process that every program gets. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'MEUP_TRANSCRIPT'] as const

function buildEnvironment({ env }: McpProgram | ProcessProgram | AcpProgram): Record<string, string> {
  const kept = inherited.map((name) => [name, process.env[name]])
  return { ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), ...env }
}

async function startMcp(
  program: McpProgram | RemoteProgram,
  connection: ProgramConnection,
  signal: AbortSignal,
): Promise<Running> {
  const { url, space: name, token, participant, log } = connection
  const bridge = await bridgeMcpServer({
    connect: () => connect({ url, space: name, token }),
    name: participant,
    signal,
    ...('url' in program
      ? { url: program.url, headers: program.headers }
      : {
          command: program.command,
          args: program.args,
          env: buildEnvironment(program),
          cwd: program.cwd,
        }),
    log: (text) => log.output({ participant, kind: 'mcp', stream: 'stderr', text }),
  })
  return {
    ended: bridge.ended.then(({ reason }) => ({ failed: true, reason })),
    close: () => bridge.close(),
  }
}

/** What happened while the agent was away: it answers what nobody answered. */
const replayed = { tail: 1000 }

async function startAcp(program: AcpProgram, connection: ProgramConnection): Promise<Running> {
  const { joinCodingAgent } = await import('@meup/acp')
  const { url, space: name, token, participant, log } = connection
  const { command, args, cwd, mode, sessions, unasked } = program
  const agent = await joinCodingAgent({
    ...{ command, args, cwd, sessions, unasked, env: buildEnvironment(program) },
    ...(mode !== undefined && { mode }),
    connect: () => connect({ url, space: name, token, ...replayed }),
    log: (text) =>
      log.output({ participant, kind: 'acp', stream: 'stderr', text: text.replaceAll(token, '[token]') }),
  })
  return {
    ended: agent.ended.then(({ reason, isFinal }) => ({ failed: true, isFinal, reason })),
    close: () => agent.close(),
  }
}

/** `EX_CONFIG` of sysexits.h: the program needs another configuration. */
const wrongConfiguration = 78
/** Longest line that is logged as one. */
const lineLimit = { maxBytes: 64 * 1024, longer: 'split' } as const
/** Time to wait for the last output of a program. */
const lastWordsMs = 500

async function startProcess(program: ProcessProgram, connection: ProgramConnection): Promise<Running> {
  const { url, space, token, participant, log } = connection
  const child = await spawnChild({
    command: program.command,
    args: program.args,
    cwd: program.cwd,
    env: {
      ...buildEnvironment(program),
      MEUP_URL: url,
      MEUP_SPACE: space,
      MEUP_TOKEN: token,
      MEUP_PARTICIPANT: participant,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const forwardOutput = async (stream: OutputLine['stream']): Promise<void> => {
    const lines: Readable | null = child[stream]
    if (lines === null) return
    for await (const line of readLines(lines, lineLimit)) {
      // Programs may print their environment.
      log.output({ participant, kind: 'process', stream, text: line.replaceAll(token, '[token]') })
    }
  }
  const forwarded = Promise.allSettled([forwardOutput('stdout'), forwardOutput('stderr')])
  return {
    ended: child.exited.then(async ({ code, signal }) => {
      await Promise.race([forwarded, new Promise((resolve) => setTimeout(resolve, lastWordsMs).unref())])
      const isFinal = code === wrongConfiguration
      const ending = signal === null ? `exit ${code}` : `killed by ${signal}`
      return { failed: code !== 0, isFinal, reason: isFinal ? `${ending}, a setting of it is wrong` : ending }
    }),
    close: async (termGraceMs) => {
      await child.close(termGraceMs === undefined ? {} : { termGraceMs })
    },
  }
}
