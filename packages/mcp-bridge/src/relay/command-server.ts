import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  serializeMessage,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { getErrorMessage, readLines, settlesWithin } from '../child/lines.js'
import type { ChildExit } from '../child/messages.js'
import { type SupervisedChild, spawnChild } from '../child/spawn-child.js'
import {
  type McpRelay,
  openRelay,
  type RelayHandlers,
  type RelayTransport,
  type ServerOptions,
} from './relay.js'

export interface CommandServerOptions extends ServerOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** The whole environment of the server. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
}

const STDERR_LIMIT = { maxBytes: 64 * 1024, longer: 'split' } as const

/** Starts a server as a child process. Rejects with CannotStartError, or with an error naming the server. */
export async function startCommandServer(
  options: CommandServerOptions,
  handlers: RelayHandlers = {},
): Promise<McpRelay> {
  try {
    return await launch(options, 'legacy', handlers)
  } catch (error) {
    if (!lacksInitialize(error)) throw error
  }
  return launch(options, 'auto', handlers)
}

async function launch(
  options: CommandServerOptions,
  mode: VersionNegotiationMode,
  handlers: RelayHandlers,
): Promise<McpRelay> {
  const { name, command, args = [], env, cwd = '.', startTimeoutMs = 60_000, signal } = options
  const log = (line: string) => options.log?.(line)
  const child = await spawnChild({ command, args, env, cwd })
  void logStderr(child, log)
  const transport = childTransport(child, (line) => log(`not JSON-RPC on stdout: ${line}`))
  try {
    return await openRelay({ name, transport, mode, startTimeoutMs, signal, ...handlers, onWarning: log })
  } catch (error) {
    await child.close()
    const reason = isClosed(error) ? `it ${(await transport.ended).reason}` : getErrorMessage(error)
    throw new Error(`the tool server "${name}" did not start: ${reason}`, { cause: error })
  }
}

async function logStderr({ stderr }: SupervisedChild, log: (line: string) => void): Promise<void> {
  try {
    if (stderr) for await (const line of readLines(stderr, STDERR_LIMIT)) log(line)
  } catch (error) {
    log(`stderr could not be read: ${getErrorMessage(error)}`)
  }
}

/** So speaks a server that is all of revision 2026-07-28 or later. */
function lacksInitialize(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const codes: number[] = [ProtocolErrorCode.UnsupportedProtocolVersion, ProtocolErrorCode.MethodNotFound]
  return cause instanceof ProtocolError && codes.includes(cause.code)
}

function isClosed(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
}

/** How long the end of the output may take to arrive after the last writer has exited. */
const LAST_OUTPUT_MS = 1000
const LINE_LIMIT = { maxBytes: STDIO_DEFAULT_MAX_BUFFER_SIZE, longer: 'fail' } as const

/**
 * MCP over the pipes of a child process. Unlike the SDK's own transport it parses each line and nothing more:
 * a message arrives with all that the server wrote. A line that is no message goes to `onNoise`.
 */
function childTransport(child: SupervisedChild, onNoise: (line: string) => void): RelayTransport {
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('an MCP server needs pipes for its stdin and stdout')
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })

  const deliver = (line: string) => {
    const message = parseObject(line)
    if (message) transport.onmessage?.(message)
    else if (line.trim() !== '') onNoise(line)
  }
  const readAll = async (): Promise<string | undefined> => {
    try {
      for await (const line of readLines(stdout, LINE_LIMIT)) deliver(line)
      return undefined
    } catch (error) {
      return `could not be read: ${getErrorMessage(error)}`
    }
  }
  const finish = async () => {
    const reading = readAll()
    const readError = await Promise.race([reading, waitForOutput(child, reading)])
    // A server that closed its output can answer no call, even if its process still runs.
    const exit = await child.close()
    transport.onclose?.()
    return { reason: readError ?? describeExit(exit) }
  }

  const transport: RelayTransport = {
    ended: opened.then(finish),
    start: async () => open(),
    send: (message) =>
      new Promise((resolve, reject) => {
        stdin.write(serializeMessage(message), (error) => {
          if (!error) return resolve()
          // Nor is one that hears nothing more; how it ended says more than a broken pipe.
          child.close().then((exit) => reject(new Error(describeExit(exit), { cause: error })), reject)
        })
      }),
    close: async () => void (await child.close()),
  }
  return transport
}

/** Resolves when a server is gone whose output does not end: something out of reach still holds the pipe. */
async function waitForOutput(child: SupervisedChild, reading: Promise<unknown>): Promise<undefined> {
  await child.exited
  await settlesWithin(reading, LAST_OUTPUT_MS)
  // If this process was too busy to read, what has arrived goes first.
  await nextTurn()
}

function describeExit({ code, signal }: ChildExit): string {
  return signal ? `was killed by ${signal}` : `exited with code ${code}`
}

function parseObject(line: string): JSONRPCMessage | undefined {
  try {
    const value: unknown = JSON.parse(line)
    // Whether it is well-formed JSON-RPC is for its receiver to say.
    return typeof value === 'object' && value && !Array.isArray(value) ? (value as JSONRPCMessage) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
