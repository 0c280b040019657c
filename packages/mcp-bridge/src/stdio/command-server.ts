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
import { type McpRelay, type OnNotification, openRelay } from '../relay/relay.js'
import type { ServerOptions } from '../relay/server-options.js'
import { childTransport } from './child-transport.js'

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
  onNotification?: OnNotification,
): Promise<McpRelay> {
  try {
    return await launch(options, 'legacy', onNotification)
  } catch (error) {
    if (!knowsNoInitialize(error)) throw error
  }
  return launch(options, 'auto', onNotification)
}

async function launch(
  options: CommandServerOptions,
  mode: VersionNegotiationMode,
  onNotification: OnNotification | undefined,
): Promise<McpRelay> {
  const { name, command, args = [], env, cwd = '.', startTimeoutMs = 60_000, signal } = options
  const log = (line: string) => options.log?.(line)
  const child = await spawnChild({ command, args, env, cwd })
  void logStderr(child, log)
  const transport = childTransport(child, (line) => log(`not JSON-RPC on stdout: ${line}`))
  try {
    return await openRelay({ name, transport, mode, startTimeoutMs, signal, onNotification, onTrouble: log })
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
