import { relative } from 'node:path'
import type { Readable } from 'node:stream'
import { connect } from '@meup/agent-sdk'
import { bridgeMcpServer, CannotStartError, readLines, spawnChild } from '@meup/mcp-bridge'
import type { McpProgram, ProcessProgram, Program, RemoteProgram } from '../config/config.js'
import type { OperatorLog, OutputLine } from '../logger.js'
import { type Keeper, keepRunning, type Running } from './keep-running.js'
import { sourcesOf } from './sources.js'
import { SourceWatch } from './watch-sources.js'

export interface Seat {
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

/** Starts a participant that is a program, once its seat is free, and keeps it running. */
export function startProgram(
  program: Program,
  seat: Seat,
  free: Promise<void> = Promise.resolve(),
): StartedProgram {
  const { started, close } =
    program.kind === 'process' ? keepProcess(program, seat, free) : keepMcp(program, seat, free)
  return {
    started: started.catch((error: unknown) => {
      if (!(error instanceof CannotStartError)) throw error
      throw new Error(`${seat.participant}: ${error.message}`, { cause: error })
    }),
    close,
  }
}

function keepMcp(program: McpProgram | RemoteProgram, seat: Seat, free: Promise<void>): StartedProgram {
  return keepRunning({
    name: seat.participant,
    log: seat.log,
    restart: 'on-failure',
    isWatched: () => false,
    async start(signal) {
      await free
      return startMcp(program, seat, signal)
    },
  })
}

/** Unless it is not to be watched, it is started again when its files change. */
function keepProcess(program: ProcessProgram, seat: Seat, free: Promise<void>): StartedProgram {
  const { participant, directory, log } = seat
  const files = program.watch
    ? new SourceWatch({
        read: () => sourcesOf(program, directory),
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
      return startProcess(program, seat)
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

/** What every program gets to see of this process's environment. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ'] as const

function environmentOf({ env }: McpProgram | ProcessProgram): Record<string, string> {
  const kept = inherited.map((name) => [name, process.env[name]])
  return { ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), ...env }
}

async function startMcp(
  program: McpProgram | RemoteProgram,
  seat: Seat,
  signal: AbortSignal,
): Promise<Running> {
  const { url, space: name, token, participant, directory, log } = seat
  const bridge = await bridgeMcpServer({
    connect: () => connect({ url, space: name, token }),
    name: participant,
    signal,
    ...('url' in program
      ? { url: program.url, headers: program.headers }
      : { command: program.command, args: program.args, env: environmentOf(program), cwd: directory }),
    log: (text) => log.output({ participant, kind: 'mcp', stream: 'stderr', text }),
  })
  return {
    ended: bridge.ended.then(({ reason }) => ({ failed: true, reason })),
    close: () => bridge.close(),
  }
}

/** Bytes of a line that is told as one. */
const lineLimit = { maxBytes: 64 * 1024, longer: 'split' } as const
/** Milliseconds that are waited for what a program has printed last. */
const lastWordsMs = 500

async function startProcess(program: ProcessProgram, seat: Seat): Promise<Running> {
  const { url, space, token, participant, directory, log } = seat
  const child = await spawnChild({
    command: program.command,
    args: program.args,
    cwd: directory,
    env: {
      ...environmentOf(program),
      MEUP_URL: url,
      MEUP_SPACE: space,
      MEUP_TOKEN: token,
      MEUP_PARTICIPANT: participant,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const tell = async (stream: OutputLine['stream']): Promise<void> => {
    const lines: Readable | null = child[stream]
    if (lines === null) return
    for await (const line of readLines(lines, lineLimit)) {
      // It may well print its environment.
      log.output({ participant, kind: 'process', stream, text: line.replaceAll(token, '[token]') })
    }
  }
  const told = Promise.allSettled([tell('stdout'), tell('stderr')])
  return {
    ended: child.exited.then(async ({ code, signal }) => {
      await Promise.race([told, new Promise((resolve) => setTimeout(resolve, lastWordsMs).unref())])
      return { failed: code !== 0, reason: signal === null ? `exit ${code}` : `killed by ${signal}` }
    }),
    close: async (termGraceMs) => {
      await child.close(termGraceMs === undefined ? {} : { termGraceMs })
    },
  }
}
