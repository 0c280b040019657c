import type { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createLegacyServer, createSpaceServer, tellChanges } from './create-server.js'
import { type Desk, openDesk, type ServedSpace } from './service.js'

export interface Serving {
  /** Resolves when the client has gone, or the space was closed by an error, with that error. */
  readonly ended: Promise<Error | undefined>
  /** Takes back what is still being asked, and leaves the space. */
  close(): Promise<void>
}

/** Serves a space to whoever has started this process: MCP on its stdin and stdout, of any revision. */
export function serveSpaceOverStdio(served: ServedSpace): Serving {
  const desk = openDesk(served)
  const transport = new StdioServerTransport()
  const handle = serveStdio(
    ({ era }) => (era === 'legacy' ? createLegacyServer(desk) : createModernServer(desk)),
    {
      transport,
      onerror: (error) => desk.log(`MCP: ${error.message}`),
    },
  )
  const left = new Promise<undefined>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve(undefined))
    process.stdout.once('error', () => resolve(undefined))
  })
  return {
    ended: Promise.race([left, desk.space.closed()]),
    async close() {
      await handle.close()
      await desk.close()
    },
  }
}

/** Its client subscribes with the SDK, which takes all that is told and passes on what was asked for. */
function createModernServer(desk: Desk): McpServer {
  const server = createSpaceServer(desk, 'modern')
  tellChanges(server, desk)
  return server
}
