import {
  type ClientContext,
  client,
  type InitializeResponse,
  methods,
  type RequestPermissionResponse,
} from '@agentclientprotocol/sdk'
import { cut, isObject } from '@meup/folds'
import { FaultLog, readLines, type SupervisedChild, settlesWithin, spawnChild } from '@meup/mcp-bridge'
import { getErrorMessage } from '@meup/protocol'
import { type OnSkipped, readUpdate, type SessionUpdate, UnreadableError } from './agent-updates.js'
import { agentError } from './errors.js'
import { createStream, readPaced } from './message-stream.js'

/** The supported version of ACP. */
const protocolVersion = 1
/** Milliseconds for the agent's process to exit after its stdout was closed. */
const silentGraceMs = 2000
/** Number of last stderr lines in the error of an agent that fails to start; maximum characters of a line. */
const [maxLastLines, maxLastLineChars] = [5, 300]
const lineLimit = { maxBytes: 64 * 1024, longer: 'split' } as const

export interface AgentCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The absolute working folder. */
  readonly cwd: string
  /** Milliseconds for the agent to answer `initialize`. */
  readonly startTimeoutMs: number
}

interface Handlers {
  onUpdate(update: SessionUpdate): void
  /** `params`: exactly as sent by the agent. */
  onPermission(params: unknown, onSkipped: OnSkipped): Promise<RequestPermissionResponse>
  /** Receives the agent's stderr lines and reports of unreadable messages. */
  log(line: string): void
}

/** A running, initialized agent. */
export interface AgentProcess {
  readonly agent: ClientContext
  readonly info: Partial<InitializeResponse>
  /** Whether the agent can receive requests. */
  readonly isConnected: boolean
  /** Resolves with the reason when the process has ended, such as "exit 1". */
  readonly ended: Promise<string>
  /** Closes stdin; after a grace period ends the process group. */
  close(): Promise<void>
  kill(): Promise<void>
}

/**
 * Starts an agent. Rejects with advice if it does not start, does not answer `initialize` in time, or `signal` is aborted
 * first.
 */
export async function startAgent(
  what: AgentCommand,
  handlers: Handlers,
  signal: AbortSignal,
): Promise<AgentProcess> {
  const { command, args, env, cwd } = what
  const { log } = handlers
  const child = await spawnChild({ command, args, env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error(`${command} has no stdin or stdout`)
  const close = async (): Promise<void> => void (await child.close({ stdinGraceMs: 2000 }))
  const kill = async (): Promise<void> => void (await child.close({ stdinGraceMs: 0, termGraceMs: 200 }))
  const stderr = new LastLines()
  forward(child, (line) => {
    stderr.add(line)
    log(line)
  }).catch((error: unknown) => log(`its stderr cannot be read any more: ${getErrorMessage(error)}`))
  const faults = new FaultLog(log, 'agent')
  const onUnreadable = (method: string, error: unknown): void => {
    const problem = 'it cannot be read'
    const kind = error instanceof UnreadableError ? `${problem}: ${method} ${error.path}` : problem
    faults.report({ problem, text: `${method}: ${getErrorMessage(error)}`, kind })
  }
  const onSkipped: OnSkipped = (fault) => faults.report(fault)
  const stream = createStream(stdin, stdout, {
    onUpdate(params) {
      try {
        handlers.onUpdate(readUpdate(params, onSkipped))
      } catch (error) {
        onUnreadable('session/update', error)
      }
    },
    onFault: (problem, text) => faults.report({ problem, text }),
  })
  const connection = client({ name: 'meup' })
    .onRequest(
      methods.client.session.requestPermission,
      (params: unknown) => params,
      ({ params }) =>
        handlers.onPermission(params, onSkipped).catch((error: unknown) => {
          onUnreadable('session/request_permission', error)
          return { outcome: { outcome: 'cancelled' as const } }
        }),
    )
    .onNotification('*', () => {})
    .connect(stream)
  let why: string | undefined
  const ended = child.exited.then(
    ({ code, signal }) => why ?? (signal === null ? `exit ${code}` : `killed by ${signal}`),
    (error: unknown) => getErrorMessage(error),
  )
  ended.then(() => {
    faults.end()
    connection.close()
  }, log)
  // Without stdout the agent cannot answer: kills it unless it exits.
  connection.closed
    .then(async () => {
      if (await settlesWithin(ended, silentGraceMs)) return
      why = 'it closed its stdout'
      await kill()
    })
    .catch((error: unknown) => log(`it could not be ended: ${getErrorMessage(error)}`))
  try {
    const info = await introduce(connection.agent, ended, what.startTimeoutMs, signal)
    return {
      ...{ agent: connection.agent, info, ended, close, kill },
      get isConnected() {
        return !connection.signal.aborted
      },
    }
  } catch (error) {
    await kill()
    const reason = `${getErrorMessage(error)}${stderr}`
    throw agentError('not_started', { command, reason }, { cause: error })
  }
}

async function introduce(
  agent: ClientContext,
  ended: Promise<string>,
  startTimeoutMs: number,
  signal: AbortSignal,
): Promise<Partial<InitializeResponse>> {
  const answer = agent.request(methods.agent.initialize, {
    protocolVersion,
    clientCapabilities: {},
    clientInfo: { name: 'meup', version: '0.1.0' },
  })
  // If the process has ended, its exit code explains more than the failed request.
  const orEnded = answer.catch(async (error: unknown) => {
    if (!(await settlesWithin(ended, silentGraceMs))) throw error
    throw agentError('ended_at_once', { reason: await ended })
  })
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  const isSettled = await settlesWithin(Promise.race([orEnded, stopped]), startTimeoutMs)
  if (signal.aborted) throw agentError('stopped', {})
  if (!isSettled) throw agentError('not_introduced', { seconds: startTimeoutMs / 1000 })
  const result: unknown = await orEnded
  const info: Partial<InitializeResponse> = isObject(result) ? result : {}
  const version: unknown = info.protocolVersion ?? protocolVersion
  if (Number(version) !== protocolVersion)
    throw agentError('other_version', { version: JSON.stringify(version), own: protocolVersion })
  return info
}

async function forward({ stderr }: SupervisedChild, log: (line: string) => void): Promise<void> {
  if (stderr === null) return
  for await (const line of readLines(readPaced(stderr), lineLimit)) log(line)
}

/** Keeps the last lines of stderr for an error. */
class LastLines {
  #lines: readonly string[] = []

  add(line: string): void {
    if (line.trim() !== '') this.#lines = [...this.#lines, cut(line, maxLastLineChars)].slice(-maxLastLines)
  }

  toString(): string {
    return this.#lines.length === 0 ? '' : `. Its last lines: ${this.#lines.join(' | ')}`
  }
}
