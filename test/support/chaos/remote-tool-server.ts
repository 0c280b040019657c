import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: string } }
}

type Answer = (response: ServerResponse, message: Message) => void

const send = (response: ServerResponse, status: number, body: unknown): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' })
  response.end(text)
}

const rpcError = (message: string, id: unknown = null): object => ({
  jsonrpc: '2.0',
  id,
  error: { code: -32000, message },
})

/** Ways in which servers report that they do not know a session. */
const lost: readonly Answer[] = [
  (response) => send(response, 404, rpcError('Session not found')),
  (response) => send(response, 404, 'no such session'),
  (response, { id }) => send(response, 404, rpcError('Session not found', id)),
  (response) => send(response, 400, rpcError('Bad Request: Server not initialized')),
  (response, { id }) => send(response, 200, rpcError('Bad Request: Server not initialized', id)),
  (response) => send(response, 410, ''),
]

/** Responses that violate the protocol. */
const broken: readonly Answer[] = [
  (response) => void response.destroy(),
  (response) => send(response, 503, 'try later'),
  (response) => send(response, 200, { jsonrpc: '2.0' }),
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: {"jsonrpc":\n\n')
    response.destroy()
  },
]

/** Starts an MCP server over HTTP with sessions, until the test is over. Its tool is `echo`. */
export async function serveRemoteTools() {
  const sessions = new Set<string>()
  let forgets: Answer | undefined
  let next: Answer | undefined
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return send(response, 405, '')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const message = JSON.parse(Buffer.concat(chunks).toString()) as Message
    const { id, method, params } = message
    if (method === 'initialize') {
      const session = randomUUID()
      sessions.add(session)
      response.setHeader('mcp-session-id', session)
      const serverInfo = { name: 'remote', version: '1' }
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
      return send(response, 200, { jsonrpc: '2.0', id, result })
    }
    if (method === 'server/discover') return send(response, 400, rpcError('Method not found', id))
    if (!sessions.has(String(request.headers['mcp-session-id'])))
      return (forgets ?? lost[0])?.(response, message)
    if (id === undefined) return send(response, 202, '')
    const instead = next
    next = undefined
    if (instead !== undefined) return instead(response, message)
    const text = params?.arguments?.text ?? ''
    const result =
      method === 'tools/list'
        ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
        : method === 'tools/call'
          ? { content: [{ type: 'text', text }] }
          : {}
    send(response, 200, { jsonrpc: '2.0', id, result })
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    /** Forgets all sessions. `way`: how the server reports unknown sessions from now on, as an index of `lost`. */
    forget(way: number): void {
      sessions.clear()
      forgets = lost[way % lost.length]
    },
    /** Makes the next response invalid. `way`: an index of `broken`. */
    break(way: number): void {
      next = broken[way % broken.length]
    },
  }
}
