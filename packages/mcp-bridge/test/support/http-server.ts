import { randomUUID } from 'node:crypto'
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  legacyStatelessFallback,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { onTestFinished } from 'vitest'
import { createServer, Happenings } from './tools.js'

/**
 * The protocol of a server: `sessions` and `stateless`: revision 2025-11-25; `modern`: 2026-07-28; `both`: depending on the
 * request.
 */
export type Manner = 'sessions' | 'stateless' | 'modern' | 'both'

type Handler = (request: Request) => Promise<Response>

export interface HttpServer {
  readonly url: string
  /** All received requests, in order. */
  readonly requests: readonly Request[]
  readonly happenings: Happenings
  /** The open sessions, by id. */
  readonly sessions: ReadonlyMap<string, WebStandardStreamableHTTPServerTransport>
  /** Forgets all sessions, and ends their streams. */
  forget(): Promise<void>
  /** Overrides the response to further requests; if the function returns `undefined`, the usual response is sent. */
  interposeOn(answer: (request: Request) => Response | undefined | Promise<Response | undefined>): void
  /** Closes all connections; new ones are accepted. */
  cut(): void
  stop(): Promise<void>
  /** Starts the server again at the same address. */
  start(): Promise<void>
}

/** Starts an MCP server over HTTP on any free port; it is stopped at the end of the test. */
export async function serveHttp(manner: Manner): Promise<HttpServer> {
  const happenings = new Happenings()
  const requests: Request[] = []
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const handle = createHandler(manner, happenings, sessions)
  let interposed: Parameters<HttpServer['interposeOn']>[0] = () => undefined
  let [http, port]: [Server | undefined, number] = [undefined, 0]

  const start = async (): Promise<void> => {
    const listening = createHttp(async (incoming, outgoing) => {
      const request = toRequest(incoming, outgoing)
      requests.push(request.clone())
      await reply((await interposed(request)) ?? (await handle(request)), outgoing)
    })
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve))
    port = (listening.address() as AddressInfo).port
    http = listening
  }
  const stop = async (): Promise<void> => {
    const closed = new Promise((resolve) => http?.close(resolve))
    http?.closeAllConnections()
    await closed
  }
  const forget = async (): Promise<void> => {
    const known = [...sessions.values()]
    sessions.clear()
    await Promise.all(known.map((transport) => transport.close()))
  }
  await start()
  onTestFinished(stop)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    happenings,
    sessions,
    forget,
    interposeOn: (answer) => {
      interposed = answer
    },
    cut: () => http?.closeAllConnections(),
    stop,
    start,
  }
}

function createHandler(
  manner: Manner,
  happenings: Happenings,
  sessions: Map<string, WebStandardStreamableHTTPServerTransport>,
): Handler {
  const factory = () => createServer(happenings)
  switch (manner) {
    case 'stateless':
      return legacyStatelessFallback(factory)
    case 'modern':
    case 'both': {
      const handler = createMcpHandler(factory, { legacy: manner === 'both' ? 'stateless' : 'reject' })
      // In this revision, an MCP server exists for one request only, so the handler sends the notifications.
      happenings.on('changed', () => handler.notify.toolsChanged())
      return (request) => handler.fetch(request)
    }
    case 'sessions':
      return async (request) => {
        const id = request.headers.get('mcp-session-id')
        const known = sessions.get(id ?? '')
        if (known !== undefined) return known.handleRequest(request)
        if (id !== null) return Response.json(sessionNotFound, { status: 404 })
        const transport = new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          onsessioninitialized: (session) => void sessions.set(session, transport),
          onsessionclosed: (session) => void sessions.delete(session),
        })
        const server = factory()
        await server.connect(transport)
        happenings.on('changed', () => server.isConnected() && server.sendToolListChanged())
        return transport.handleRequest(request)
      }
  }
}

const sessionNotFound = { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }

function toRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const { method = 'GET', url = '/' } = incoming
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const headers = Object.entries(incoming.headers).map(
    ([name, value]) => [name, String(value)] as [string, string],
  )
  const body = method === 'POST' ? { body: Readable.toWeb(incoming), duplex: 'half' as const } : {}
  return new Request(new URL(url, 'http://127.0.0.1'), { method, headers, signal: gone.signal, ...body })
}

async function reply(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  if (response.body === null) return void outgoing.end()
  // Ignores an error: the client may close the stream before its end.
  await pipeline(Readable.fromWeb(response.body), outgoing).catch(() => {})
}
