import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { ConnectionError, connect, ProtocolError } from '@meup/agent-sdk'
import { bridgeMcpServer, ProgramError, readLines, spawnChild } from '@meup/mcp-bridge'
import { omitUndefined } from '@meup/protocol'
import type { AcpProgram, McpProgram, ProcessProgram, Program, RemoteProgram } from '../config/config.js'
import { getRemedy } from '../failure/failure.js'
import type { FailureName } from '../failure/failures.js'
import type { OperatorLog, OutputLine } from '../lib/logger.js'
import { findCause } from './find-cause.js'
import { type Running, StartError } from './keep-running.js'

/** How a program connects to its space. */
export interface ProgramConnection {
  readonly url: string
  readonly space: string
  readonly participant: string
  readonly token: string
  /** Session id of this start: identifies the running program [MEUP-2.14]. */
  readonly session: string
  /** Folder of the configuration file. */
  readonly directory: string
  readonly log: OperatorLog
}

/** Starts a program. Rejects with advice if that fails, or once the signal is aborted. */
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

/** Adds advice to an error; errors from the gateway already contain theirs. */
function explainStartError(cause: unknown, program: Program): unknown {
  if (cause instanceof StartError) return cause
  if (cause instanceof ProgramError && cause.code === 'cannot_start')
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

/** Environment variables that every program inherits. */
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'TZ', 'MEUP_TRANSCRIPT'] as const
/** Makes Python flush its output immediately, although stdout is a pipe. */
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

/** Replays the latest 1000 envelopes, so that the agent answers questions that were sent while it was away. */
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

/** Maximum milliseconds to wait for a start to end after it was aborted. */
const abortMs = 2000

/** Waits for a start, unless it is aborted. A start that finishes later is closed. */
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
    starting.then((running) => running.close()).catch(() => {}) // Closes a program that becomes ready too late.
    throw error
  }
}

/** `EX_CONFIG` of sysexits.h: the program's configuration is wrong. */
const wrongConfiguration = 78
/** Errors of Node.js and tsx when a module is run as CommonJS. */
const commonJs = [
  /Cannot use import statement outside a module/,
  /await is only valid in async functions and the top level bodies of modules/,
  /Top-level await is currently not supported with the "cjs" output format/,
  /ERR_REQUIRE_(?:ESM|ASYNC_MODULE)/,
]
/** Limit of a line of output; longer lines are split. */
const lineLimit = { maxBytes: 64 * 1024, longer: 'split' } as const
/** Number of the last lines of stderr that are searched for the cause of an end, and characters of each. */
const [maxLastLines, maxLastLineChars] = [40, 500]
/** Maximum wait for the rest of the output after a program has exited. */
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
  const lastLines: string[] = []
  const forwardOutput = async (stream: OutputLine['stream']): Promise<void> => {
    const lines: Readable | null = child[stream]
    if (lines === null) return
    for await (const line of readLines(lines, lineLimit)) {
      // Masks the token, because programs may print their environment.
      const text = line.replaceAll(token, '[token]')
      log.output({ space, participant, kind: 'process', stream, text })
      if (stream === 'stdout') continue
      isCommonJs ||= commonJs.some((sign) => sign.test(line))
      lastLines.push(text.slice(0, maxLastLineChars))
      if (lastLines.length > maxLastLines) lastLines.shift()
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
      if (isFinal) return { failed, isFinal, reason: `${ending}, a setting of it is wrong` }
      const cause = failed ? findCause(lastLines, program.cwd) : undefined
      return { failed, reason: cause === undefined ? ending : `${ending}, ${cause}` }
    }),
    close: async (termGraceMs) => {
      await child.close(termGraceMs === undefined ? {} : { termGraceMs })
    },
  }
}
