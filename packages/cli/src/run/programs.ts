import { createInterface } from 'node:readline'
import { connect } from '@meup/agent-sdk'
import type { Logger } from '@meup/gateway'
import { bridgeMcpServer, spawnChild } from '@meup/mcp-bridge'
import type { McpProgram, ProcessProgram, Program } from '../config/config.js'
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

/** Starts a participant that is a program, and keeps it running. */
export function startProgram(
  program: Program,
  seat: Seat,
): { started: Promise<void>; close(): Promise<void> } {
  const { participant: name, logger } = seat
  return program.kind === 'mcp'
    ? keepRunning({ name, logger, restart: 'on-failure', start: () => startMcp(program, seat) })
    : keepRunning({ name, logger, restart: program.restart, start: () => startProcess(program, seat) })
}

/** What every program gets to see of this process's environment. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ'] as const

function environmentOf({ env }: Program): Record<string, string> {
  const kept = inherited.map((name) => [name, process.env[name]])
  return { ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), ...env }
}

async function startMcp(program: McpProgram, seat: Seat): Promise<Running> {
  const { url, space: name, token, participant, directory, logger } = seat
  const bridge = await bridgeMcpServer({
    connect: () => connect({ url, space: name, token }),
    name: participant,
    command: program.command,
    args: program.args,
    env: environmentOf(program),
    cwd: directory,
    onStderr: (line) => logger.info({ participant, line }, 'the tool server says'),
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
  logLines(child.stdout, (line) => logger.info({ participant, line }, 'the program says'))
  logLines(child.stderr, (line) => logger.warn({ participant, line }, 'the program says'))
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
