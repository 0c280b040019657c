import { connectRemoteServer, type RemoteServerOptions } from './http/remote-server.js'
import type { McpRelay, OnNotification } from './relay/relay.js'
import { type CommandServerOptions, startCommandServer } from './stdio/command-server.js'

export type McpServerOptions = CommandServerOptions | RemoteServerOptions

/** Starts an MCP server by its command, or connects to the one at its address. Rejects with an error naming it. */
export async function startMcpServer(
  options: McpServerOptions,
  onNotification?: OnNotification,
): Promise<McpRelay> {
  options.signal?.throwIfAborted()
  return 'url' in options
    ? connectRemoteServer(options, onNotification)
    : startCommandServer(options, onNotification)
}
