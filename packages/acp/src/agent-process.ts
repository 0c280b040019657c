import type { Readable, Writable } from 'node:stream'
import {
  type AnyMessage,
  type ClientContext,
  client,
  type InitializeResponse,
  methods,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type Stream,
} from '@agentclientprotocol/sdk'
import { isObject } from '@meup/folds'
import { readLines, type SupervisedChild, spawnChild } from '@meup/mcp-bridge'
import { getMessage } from './approvals.js'

/** Milliseconds in which an agent has to introduce itself. */
const initializeMs = 30_000
/** Characters of a line of the log. */
const maxLineChars = 1000
const lineLimit = { maxBytes: 64 * 1024, longer: 'split' } as const

export interface AgentCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Absolute: the folder that it works in. */
  readonly cwd: string
}

interface Handlers {
  onUpdate(notification: SessionNotification): void
  onPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
  /** Lines of its stderr, and about what is odd in what it does. */
  log(line: string): void
}

/** A running agent that has introduced itself. */
export interface AgentProcess {
  readonly agent: ClientContext
  readonly info: InitializeResponse
  /** Whether it can still be asked. */
  readonly isConnected: boolean
  /** Resolves when it has ended; the reason reads "exit 1". */
  readonly ended: Promise<string>
  /** Ends stdin, and after a while the process group. */
  close(): Promise<void>
  kill(): Promise<void>
}

/** Starts an agent. Rejects with what to do about it where it does not start, or does not introduce itself in time. */
export async function startAgent(what: AgentCommand, handlers: Handlers): Promise<AgentProcess> {
  const { command, args, env, cwd } = what
  const child = await spawnChild({ command, args, env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error(`${command} has no stdin or stdout`)
  void forward(child, handlers.log)
  let hasJunk = false
  const stream = createStream(stdin, stdout, {
    onUpdate: handlers.onUpdate,
    onJunk(line) {
      if (hasJunk) return
      hasJunk = true
      const first = line.slice(0, maxLineChars)
      handlers.log(`its stdout has lines that are no messages; they are skipped. The first: ${first}`)
    },
  })
  const connection = client({ name: 'meup' })
    .onRequest(methods.client.session.requestPermission, asIs<RequestPermissionRequest>, ({ params }) =>
      handlers.onPermission(params),
    )
    .onNotification('*', () => {})
    .connect(stream)
  const ended = child.exited.then(({ code, signal }) =>
    signal === null ? `exit ${code}` : `killed by ${signal}`,
  )
  void ended.then(() => connection.close())
  const close = async (): Promise<void> => void (await child.close({ stdinGraceMs: 2000 }))
  const kill = async (): Promise<void> => void (await child.close({ stdinGraceMs: 0, termGraceMs: 200 }))
  try {
    const info = await withinTime(
      connection.agent.request(methods.agent.initialize, {
        protocolVersion: 1,
        clientCapabilities: {},
        clientInfo: { name: 'meup', version: '0.1.0' },
      }),
      ended,
    )
    return {
      ...{ agent: connection.agent, info, ended, close, kill },
      get isConnected() {
        return !connection.signal.aborted
      },
    }
  } catch (error) {
    await kill()
    throw new Error(`${command} did not start as a coding agent: ${getMessage(error)}`, { cause: error })
  }
}

/** Agents are newer than any list of what they may say. */
const asIs = <Params>(params: unknown): Params => params as Params

async function withinTime<Value>(answer: Promise<Value>, ended: Promise<string>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const why = `it did not answer initialize within ${initializeMs / 1000} s; does it speak ACP on stdio with these arguments?`
    timer = setTimeout(() => reject(new Error(why)), initializeMs)
  })
  const gone = ended.then((reason) => Promise.reject(new Error(`it ended at once: ${reason}`)))
  answer.catch(() => {}) // The end of the process is the better reason.
  gone.catch(() => {})
  return Promise.race([answer.catch(() => gone), gone, late]).finally(() => clearTimeout(timer))
}

async function forward({ stderr }: SupervisedChild, log: (line: string) => void): Promise<void> {
  if (stderr === null) return
  for await (const line of readLines(stderr, lineLimit)) log(line)
}

/** The longest message of an agent. */
const maxMessageBytes = 32 * 1024 * 1024

interface StreamHandlers {
  /** Called in order, as they come: the SDK would refuse those that are newer than itself. */
  onUpdate(notification: SessionNotification): void
  /** A line that is no message. */
  onJunk(line: string): void
}

/** The messages of an agent, one a line, but for session updates. */
function createStream(stdin: Writable, stdout: Readable, { onUpdate, onJunk }: StreamHandlers): Stream {
  async function* read(): AsyncGenerator<AnyMessage> {
    for await (const line of readLines(stdout, { maxBytes: maxMessageBytes, longer: 'fail' })) {
      const message = parse(line)
      if (message === undefined) {
        if (line.trim() !== '') onJunk(line)
      } else if ('method' in message && message.method === methods.client.session.update) {
        const { params } = message
        if (isObject(params) && isObject(params.update)) onUpdate(params as SessionNotification)
      } else yield message
    }
  }
  return {
    readable: ReadableStream.from(read()),
    writable: new WritableStream({
      write: (message) =>
        new Promise((resolve, reject) =>
          stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve())),
        ),
    }),
  }
}

function parse(line: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'jsonrpc' in value
      ? (value as AnyMessage)
      : undefined
  } catch {
    return undefined
  }
}
