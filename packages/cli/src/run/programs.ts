import { createInterface } from 'node:readline'
import { connect } from '@meup/agent-sdk'
import type { Logger } from '@meup/gateway'
import { bridgeMcpServer, spawnChild } from '@meup/mcp-bridge'
import type { McpProgram, ProcessProgram, Program, RemoteProgram } from '../config/config.js'
import { keepRunning, type Running } from './keep-running.js'

export interface Seat {
  readonly url: string
  readonly space: string
  readonly participant: string
  readonly token: string
  /** The folder of the configuration file. */
  readonly directory: string
  readonly logger: Logger
}

/** Starts a participant that is a program, once its seat is free, and keeps it running. */
export function startProgram(
  program: Program,
  seat: Seat,
  free: Promise<void> = Promise.resolve(),
): { started: Promise<void>; close(): Promise<void> } {
  return keepRunning({
    name: seat.participant,
    logger: seat.logger,
    restart: program.kind === 'mcp' ? 'on-failure' : program.restart,
    async start(signal) {
      await free
      return program.kind === 'mcp' ? startMcp(program, seat, signal) : startProcess(program, seat)
    },
  })
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
  const { url, space: name, token, participant, directory, logger } = seat
  const bridge = await bridgeMcpServer({
    connect: () => connect({ url, space: name, token }),
    name: participant,
    signal,
    ...('url' in program
      ? { url: program.url, headers: program.headers }
      : { command: program.command, args: program.args, env: environmentOf(program), cwd: directory }),
    log: (line) => logger.info({ participant, line }, 'the tool server says'),
  })
  return {
    ended: bridge.ended.then(({ reason }) => ({ failed: true, reason })),
    close: () => bridge.close(),
  }
}

async function startProcess(program: ProcessProgram, seat: Seat): Promise<Running> {
  const { url, space, token, participant, directory, logger } = seat
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
  // It may well print its environment.
  const hidden = (line: string): string => line.replaceAll(token, '[token]')
  logLines(child.stdout, (line) => logger.info({ participant, line: hidden(line) }, 'the program says'))
  logLines(child.stderr, (line) => logger.warn({ participant, line: hidden(line) }, 'the program says'))
  return {
    ended: child.exited.then(({ code, signal }) => ({
      failed: code !== 0,
      reason: signal === null ? `exit ${code}` : `killed by ${signal}`,
    })),
    close: async () => {
      await child.close()
    },
  }
}

function logLines(stream: NodeJS.ReadableStream | null, log: (line: string) => void): void {
  if (stream === null) return
  createInterface({ input: stream }).on('line', log)
}
