import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import { createLegacyServer, createSpaceServer } from '../create-server.js'
import { openDesk } from '../desk.js'
import type { ServedSpace } from '../served-space.js'
import type { Serving } from '../stdio.js'
import { path, refusalOf } from './door.js'
import { Sessions } from './sessions.js'

export interface HttpServing extends Serving {
  /** Where clients speak Streamable HTTP, such as `http://127.0.0.1:8081/mcp`. */
  readonly url: string
}

export interface HttpOptions {
  /** 0 = any free port. */
  readonly port: number
  /** What clients have to send as `Authorization: Bearer <token>`; another one than the participant's own. */
  readonly token: string
}

/** Other machines are served through a proxy that knows whom it lets in. */
const host = '127.0.0.1'

/** Serves a space over Streamable HTTP to programs of this machine that know the token. Rejects when it cannot listen. */
export async function serveSpaceOverHttp(
  served: ServedSpace,
  { port, token }: HttpOptions,
): Promise<HttpServing> {
  const desk = openDesk(served)
  const sessions = new Sessions(() => createLegacyServer(desk))
  const modern = createMcpHandler(() => createSpaceServer(desk, 'modern'), {
    legacy: 'reject',
    onerror: (error) => desk.log(`MCP: ${error.message}`),
  })
  // Here a server lives for one request: who listens for changes listens to the handler.
  desk.changes.listen((uri) => modern.notify.resourceUpdated(uri))
  const http = createServer(
    getRequestListener(async (request) => {
      const refusal = refusalOf(request, token)
      if (refusal !== undefined) return refusal
      return (await isLegacyRequest(request)) ? sessions.handle(request) : modern.fetch(request)
    }),
  )
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, resolve)
  })
  const { port: bound } = http.address() as AddressInfo
  return {
    url: `http://${host}:${bound}${path}`,
    ended: desk.space.closed(),
    async close() {
      const closed = new Promise((resolve) => http.close(resolve))
      await Promise.all([sessions.close(), modern.close()])
      await desk.close()
      http.closeAllConnections()
      await closed
    },
  }
}
