import { type McpServer, ResourceNotFoundError } from '@modelcontextprotocol/server'
import type { Desk } from './desk.js'

/** Addresses that one client may subscribe to. */
const most = 1000

/** Tells a client of changes of what it has subscribed to: up to revision 2025-11-25 the server keeps the list. */
export function tellSubscribed(server: McpServer, desk: Desk): void {
  const subscribed = new Set<string>()
  const { server: protocol } = server
  protocol.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (!uri.startsWith(desk.uris.base)) throw new ResourceNotFoundError(uri)
    if (subscribed.size >= most) throw new Error(`there are ${most} subscriptions already; end some of them`)
    subscribed.add(uri)
    return {}
  })
  protocol.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri)
    return {}
  })
  tellChanges(server, desk, (uri) => subscribed.has(uri))
}

/** Tells of all that changes, unless told otherwise: for whoever passes on only what its client asked for. */
export function tellChanges(
  server: McpServer,
  { changes, log }: Desk,
  isWanted: (uri: string) => boolean = () => true,
): void {
  const stop = changes.listen((uri) => {
    if (!server.isConnected() || !isWanted(uri)) return
    server.server
      .sendResourceUpdated({ uri })
      .catch((error: Error) => log(`a change could not be told: ${error.message}`))
  })
  onceClosed(server, stop)
}

/** The SDK knows one listener; there may be several here. */
export function onceClosed({ server }: McpServer, listener: () => void): void {
  const before = server.onclose
  server.onclose = () => {
    before?.()
    listener()
  }
}
