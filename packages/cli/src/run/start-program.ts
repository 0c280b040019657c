import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { ConnectionError, connect, ProtocolError } from '@meup/agent-sdk'
import { bridgeMcpServer, CannotStartError, readLines, spawnChild } from '@meup/mcp-bridge'
import { omitUndefined } from '@meup/protocol'
import type { AcpProgram, McpProgram, ProcessProgram, Program, RemoteProgram } from '../config/config.js'
import { getRemedy } from '../failure/failure.js'
import type { FailureName } from '../failure/failures.js'
import type { OperatorLog, OutputLine } from '../lib/logger.js'
import { type Running, StartError } from './keep-running.js'

/** How a program connects to its space. */
export interface ProgramConnection {
  readonly url: string
  readonly space: string
  readonly participant: string
  readonly token: string
  /** Names the program that is started [MEUP-2.14]. */
  readonly session: string
  /** The folder of the configuration file. */
  readonly directory: string
  readonly log: OperatorLog
}

/** Starts a program. Rejects with what to do about it if it does not start, or once the signal is aborted. */
export async function startProgram(
  program: Program,
  connection: ProgramConnection,
  signal: AbortSignal,
): Promise<Running> {
  try {
    if ('cwd' in program && !existsSync(program.cwd))
      throw new StartError(
        `its cwd ${program.cwd} does not exist`,
        'make that folder, or correct cwd in space.yaml',
      )
    if (program.kind === 'process') return await startProcess(program, connection)
    return await startUnlessAborted(
      () => (program.kind === 'acp' ? startAcp(program, connection) : startMcp(program, connection, signal)),
      signal,
    )
  } catch (error) {
    throw explainStartError(error, program)
  }
}

/** Refusals of the gateway stay as they are. */
function explainStartError(cause: unknown, program: Program): unknown {
  if (cause instanceof StartError) return cause
  if (cause instanceof CannotStartError)
    return new StartError(cause.message, describeInstallation(program), { cause })
  if (!(cause instanceof Error) || cause instanceof ProtocolError || cause instanceof ConnectionError)
    return cause
  return new StartError(cause.message, getRemedy(chooseRemedy(program)), { cause })
}

function describeInstallation(program: Program): string {
  const remedy = getRemedy('missing_program')
  if (program.kind !== 'acp' || program.package === undefined) return remedy
  return remedy.replace('install it', `install it: npm install -g ${program.package}`)
}

function chooseRemedy(program: Program): FailureName {
  if (program.kind === 'acp') return 'failed_agent'
  return 'url' in program ? 'unreachable_server' : 'failed_server'
}

/** Variables of this process that every program gets. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'MEUP_TRANSCRIPT'] as const
/** Python's output is shown at once, although it is not a terminal. */
const preset = { PYTHONUNBUFFERED: '1' }

function buildEnvironment({ env }: McpProgram | ProcessProgram | AcpProgram): Record<string, string> {
  const kept = inherited.map((name) => [name, process.env[name]])
  return { ...preset, ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)), ...env }
}

async function startMcp(
  program: McpProgram | RemoteProgram,
  connection: ProgramConnection,
  signal: AbortSignal,
): Promise<Running> {
  const { url, space: name, token, session, participant, log } = connection
  const bridge = await bridgeMcpServer({
    connect: () => connect({ url, space: name, token, session }),
    name: participant,
    signal,
    startTimeoutMs: program.startTimeoutMs,
    ...omitUndefined({ callMs: program.callMs }),
    ...('url' in program
      ? { url: program.url, headers: program.headers }
      : {
          command: program.command,
          args: program.args,
          env: buildEnvironment(program),
          cwd: program.cwd,
        }),
    log: (text) => log.output({ space: name, participant, kind: 'mcp', stream: 'stderr', text }),
  })
  return {
    ended: bridge.ended.then(({ reason }) => ({ failed: true, reason })),
    close: () => bridge.close(),
  }
}

/** Events while the agent was away: it answers unanswered questions. */
const replayed = { tail: 1000 }

async function startAcp(program: AcpProgram, connection: ProgramConnection): Promise<Running> {
  const { joinCodingAgent } = await import('@meup/acp')
  const { url, space: name, token, session, participant, log } = connection
  const { command, args, cwd, mode, sessions, unasked, startTimeoutMs } = program
  const agent = await joinCodingAgent({
    ...{ command, args, cwd, sessions, unasked, startTimeoutMs, env: buildEnvironment(program) },
    ...omitUndefined({ mode }),
    connect: () => connect({ url, space: name, token, session, ...replayed }),
    log: (text) =>
      log.output({
        space: name,
        participant,
        kind: 'acp',
        stream: 'stderr',
        text: text.replaceAll(token, '[token]'),
      }),
  })
  return {
    ended: agent.ended.then(({ reason, isFinal }) => ({ failed: true, isFinal, reason })),
    close: () => agent.close(),
  }
}

/** Milliseconds that a start may take to end once it is aborted. */
const abortMs = 2000

/** A start that continues after it was aborted is closed when it is ready. */
async function startUnlessAborted(start: () => Promise<Running>, signal: AbortSignal): Promise<Running> {
  signal.throwIfAborted()
  const starting = start()
  let giveUp = (): void => {}
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => setTimeout(() => reject(signal.reason), abortMs).unref()
  })
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    const running = await Promise.race([starting, aborted])
    signal.removeEventListener('abort', giveUp)
    return running
  } catch (error) {
    starting.then((running) => running.close()).catch(() => {}) // No one waits for it any more.
    throw error
  }
}

/** `EX_CONFIG` of sysexits.h: the program needs another configuration. */
const wrongConfiguration = 78
/** Errors that Node.js and tsx print if a module is run as CommonJS. */
const commonJs = [
  /Cannot use import statement outside a module/,
  /await is only valid in async functions and the top level bodies of modules/,
  /Top-level await is currently not supported with the "cjs" output format/,
  /ERR_REQUIRE_(?:ESM|ASYNC_MODULE)/,
]
/** Longest line that is logged as one. */
const lineLimit = { maxBytes: 64 * 1024, longer: 'split' } as const
/** Time to wait for the last output of a program. */
const lastWordsMs = 500

async function startProcess(program: ProcessProgram, connection: ProgramConnection): Promise<Running> {
  const { url, space, token, session, participant, log } = connection
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
      MEUP_SESSION: session,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let isCommonJs = false
  const forwardOutput = async (stream: OutputLine['stream']): Promise<void> => {
    const lines: Readable | null = child[stream]
    if (lines === null) return
    for await (const line of readLines(lines, lineLimit)) {
      isCommonJs ||= stream === 'stderr' && commonJs.some((sign) => sign.test(line))
      // Programs may print their environment.
      log.output({ space, participant, kind: 'process', stream, text: line.replaceAll(token, '[token]') })
    }
  }
  const forwarded = Promise.allSettled([forwardOutput('stdout'), forwardOutput('stderr')])
  return {
    ended: child.exited.then(async ({ code, signal }) => {
      await Promise.race([forwarded, new Promise((resolve) => setTimeout(resolve, lastWordsMs).unref())])
      const failed = code !== 0
      const ending = signal === null ? `exit ${code}` : `killed by ${signal}`
      if (failed && isCommonJs) {
        const remedy = getRemedy('commonjs_program')
        return { failed, isFinal: true, reason: `${ending}, it is run as CommonJS`, remedy }
      }
      const isFinal = code === wrongConfiguration
      return { failed, isFinal, reason: isFinal ? `${ending}, a setting of it is wrong` : ending }
    }),
    close: async (termGraceMs) => {
      await child.close(termGraceMs === undefined ? {} : { termGraceMs })
    },
  }
}
