import type { McpRequestPayload } from '@meup/protocol'
import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { type SupervisedChild, spawnChild } from '../child/spawn-child.js'
import { messageOf } from '../errors.js'
import { linesOf } from '../lines.js'
import { childTransport } from './child-transport.js'
import { type McpRelay, openRelay } from './relay.js'

export interface McpServerOptions {
  /** What the server is called in messages about it. */
  readonly name: string
  readonly command: string
  readonly args?: readonly string[]
  /** The whole environment of the server. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** How long the server may take to answer its first request, in ms; default 60000. */
  readonly startTimeoutMs?: number
  /** A line for the log: of the server's stderr, or about something odd that it did. */
  readonly onStderr?: (line: string) => void
  /** What the server announces, as it stands. */
  readonly onNotification?: (payload: McpRequestPayload) => void
}

const STDERR_LIMIT = { maxBytes: 64 * 1024, longer: 'split' } as const

/** Starts an MCP server as a child process. Rejects with CannotStartError, or with an error naming the server. */
export async function startMcpServer(options: McpServerOptions): Promise<McpRelay> {
  try {
    return await launch(options, 'legacy')
  } catch (error) {
    if (!knowsNoInitialize(error)) throw error
  }
  return launch(options, 'auto')
}

async function launch(options: McpServerOptions, mode: VersionNegotiationMode): Promise<McpRelay> {
  const { name, command, args = [], env, cwd = '.', startTimeoutMs = 60_000, onNotification } = options
  const log = (line: string) => options.onStderr?.(line)
  const child = await spawnChild({ command, args, env, cwd })
  void logStderr(child, log)
  const transport = childTransport(child, (line) => log(`not JSON-RPC on stdout: ${line}`))
  try {
    return await openRelay({ name, transport, mode, startTimeoutMs, onNotification, onTrouble: log })
  } catch (error) {
    await child.close()
    const reason = isClosed(error) ? `it ${(await transport.ended).reason}` : messageOf(error)
    throw new Error(`the tool server "${name}" did not start: ${reason}`, { cause: error })
  }
}

async function logStderr({ stderr }: SupervisedChild, log: (line: string) => void): Promise<void> {
  try {
    if (stderr) for await (const line of linesOf(stderr, STDERR_LIMIT)) log(line)
  } catch (error) {
    log(`stderr could not be read: ${messageOf(error)}`)
  }
}

/** So speaks a server that is all of revision 2026-07-28 or later. */
function knowsNoInitialize(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const codes: number[] = [ProtocolErrorCode.UnsupportedProtocolVersion, ProtocolErrorCode.MethodNotFound]
  return cause instanceof ProtocolError && codes.includes(cause.code)
}

function isClosed(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
}
