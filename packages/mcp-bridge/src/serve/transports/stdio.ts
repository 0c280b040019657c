import type { McpServer, Transport } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { FaultLog } from '../../relay/fault-log.js'
import { createLegacyServer, createSpaceServer, sendChanges } from '../create-server.js'
import { openSpaceService, type ServedSpace, type SpaceService } from '../service.js'
import { createStdioTransport, type Pipes } from './stdio-transport.js'

export interface Serving {
  /** Resolves when the client has disconnected, or when the space was closed by an error, with that error. */
  readonly ended: Promise<Error | undefined>
  /** Cancels open questions, then closes the client. */
  close(): Promise<void>
}

/** Serves a space over MCP on stdin and stdout, for clients of any revision. */
export function serveSpaceOverStdio(served: ServedSpace, pipes: Pipes = process): Serving {
  const service = openSpaceService(served)
  const transport = createStdioTransport(pipes, new FaultLog(service.log, 'client'))
  const handle = serveStdio(
    ({ era }) => (era === 'legacy' ? createLegacyServer(service) : createModernServer(service)),
    {
      transport,
      onerror: (error) => service.log(`MCP: ${error.message}`),
    },
  )
  listenTo(transport, service)
  const left = new Promise<undefined>((resolve) => {
    for (const event of ['end', 'close', 'error']) pipes.stdin.on(event, () => resolve(undefined))
    pipes.stdout.on('error', () => resolve(undefined))
  })
  return {
    ended: Promise.race([left, service.space.closed()]),
    async close() {
      await handle.close()
      await service.close()
    },
  }
}

/** Creates a server that notifies of all changes: the SDK filters them by the client's subscriptions. */
function createModernServer(service: SpaceService): McpServer {
  const server = createSpaceServer(service, 'modern')
  sendChanges(server, service)
  return server
}

/**
 * Passes subscriptions of revision 2026-07-28 on to the participants with these resources. The SDK does not expose them, so
 * they are read from the messages.
 */
function listenTo(transport: Transport, { subscriptions }: SpaceService): void {
  const ends = new Map<unknown, () => void>()
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    if ('id' in message && 'method' in message) ends.set(message.id, subscriptions.addListened(message))
    else if ('method' in message && message.method === 'notifications/cancelled') {
      ends.get(message.params?.requestId)?.()
      ends.delete(message.params?.requestId)
    }
    onmessage?.(message, extra)
  }
}
