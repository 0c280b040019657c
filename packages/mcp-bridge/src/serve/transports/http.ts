import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { isTrustedHost, readHostName } from '@meup/protocol'
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { FaultLog } from '../../relay/fault-log.js'
import { createLegacyServer, createSpaceServer } from '../create-server.js'
import { serveText, serveTexts } from '../errors.js'
import type { ListName } from '../offers/changes.js'
import { formatCodedError } from '../results.js'
import { openSpaceService, type ServedSpace } from '../service.js'
import { answerPost, type Post, withUsualAccept } from './http-body.js'
import type { Serving } from './stdio.js'

export interface HttpServing extends Serving {
  /** URL of the Streamable HTTP endpoint, such as `http://127.0.0.1:8081/mcp`. */
  readonly url: string
}

export interface HttpServeOptions {
  /** TCP port; 0 = any free port. */
  readonly port: number
  /** The token that clients have to send as `Authorization: Bearer <token>`. It is not the participant's own token. */
  readonly token: string
  /**
   * Host names under which clients may reach the endpoint, such as `host.docker.internal`, in addition to IP addresses and
   * `localhost`.
   */
  readonly hosts?: readonly string[]
}

/** Listens on the loopback interface only. Other machines need an authenticating proxy. */
const host = '127.0.0.1'

/** Serves a space over Streamable HTTP to local programs that have the token. Rejects if it cannot listen on the port. */
export async function serveSpaceOverHttp(
  served: ServedSpace,
  { port, token, hosts = [] }: HttpServeOptions,
): Promise<HttpServing> {
  const service = openSpaceService(served)
  const names = new Set(hosts.flatMap((each) => readHostName(each) ?? []))
  const sessions = new Sessions(() => createLegacyServer(service))
  const modern = createMcpHandler(() => createSpaceServer(service, 'modern'), {
    legacy: 'reject',
    onerror: (error) => service.log(`MCP: ${error.message}`),
  })
  // Since revision 2026-07-28, a server exists for one request only, so the handler sends the notifications.
  const { notify } = modern
  const lists: Record<ListName, () => void> = {
    tools: notify.toolsChanged,
    prompts: notify.promptsChanged,
    resources: notify.resourcesChanged,
  }
  service.changes.listen((changed) => {
    if (Object.hasOwn(lists, changed)) lists[changed as ListName]()
    else notify.resourceUpdated(changed)
  })
  const answer = async ({ request, body }: Post): Promise<Response> => {
    if (await isLegacyRequest(request, body)) return sessions.handle(request, body)
    const end = service.subscriptions.addListened(body)
    request.signal.addEventListener('abort', end)
    return modern.fetch(request, { parsedBody: body })
  }
  const faults = new FaultLog(service.log, 'client')
  const listener = getRequestListener(async (request) => {
    const refusal = checkRequest(request, token, names)
    if (refusal !== undefined) return refusal
    if (request.method !== 'POST') return answer({ request: withUsualAccept(request), answers: [] })
    return answerPost(request, faults, answer)
  })
  const http = createServer((request, response) => {
    listener(request, response).catch((error: unknown) => {
      service.log(`a request could not be answered: ${formatCodedError(error)}`)
      response.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject)
    http.listen(port, host, resolve)
  })
  const { port: bound } = http.address() as AddressInfo
  return {
    url: `http://${host}:${bound}${path}`,
    ended: service.space.closed(),
    async close() {
      const closed = new Promise((resolve) => http.close(resolve))
      await Promise.all([sessions.close(), modern.close()])
      faults.end()
      await service.close()
      http.closeAllConnections()
      await closed
    },
  }
}

/** Path of the only endpoint. */
const path = '/mcp'
const sessionHeader = 'mcp-session-id'

/**
 * Checks whether a request is permitted; returns an error response if not. Refuses web pages of other origins, including DNS
 * rebinding, and programs without the token.
 */
function checkRequest(request: Request, token: string, names: ReadonlySet<string>): Response | undefined {
  const asked = request.headers.get('host') ?? ''
  if (!isTrustedHost(asked, names))
    return refuse(403, serveText('foreign_host', { host: asked, name: readHostName(asked) ?? '<name>' }))
  const foreign = originValidationResponse(request, [...localhostAllowedOrigins(), ...names])
  if (foreign !== undefined) return foreign
  // Clients of the older HTTP+SSE transport begin with a GET without a session; they get advice instead of 403 or 404.
  const isStream = request.headers.get('accept')?.includes('text/event-stream')
  if (request.method === 'GET' && isStream && !request.headers.has(sessionHeader))
    return refuse(405, serveText('older_transport', { path }), { allow: 'POST' })
  if (new URL(request.url).pathname !== path) return refuse(404, serveText('unknown_path', { path }))
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  if (isSame(given, token)) return undefined
  // Not 401: MCP clients would then look for OAuth, and report that it is missing.
  return refuse(403, serveTexts.wrong_token)
}

/** Compares two tokens in constant time, using digests of equal length. */
const isSame = (given: string, token: string): boolean => timingSafeEqual(digest(given), digest(token))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  const body = { jsonrpc: '2.0', id: null, error: { code: -32_000, message } }
  return Response.json(body, { status, headers })
}

type Transport = WebStandardStreamableHTTPServerTransport

/** Maximum sessions. The least recently used ones are closed, because clients may disconnect without ending theirs. */
const maxSessions = 100

/** Sessions of Streamable HTTP up to revision 2025-11-25, in which the server can send requests. */
class Sessions {
  readonly #create: () => McpServer
  /** The open sessions by id, least recently used first. */
  readonly #open = new Map<string, Transport>()

  constructor(create: () => McpServer) {
    this.#create = create
  }

  async handle(request: Request, parsedBody?: unknown): Promise<Response> {
    const id = request.headers.get(sessionHeader)
    if (id === null) return this.#begin(request, parsedBody)
    const known = this.#open.get(id)
    if (known === undefined) return refuse(404, serveTexts.unknown_session)
    this.#open.delete(id)
    this.#open.set(id, known)
    return known.handleRequest(request, { parsedBody })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()))
  }

  async #begin(request: Request, parsedBody: unknown): Promise<Response> {
    const transport: Transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#keep(id, transport),
    })
    const server = this.#create()
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody })
    if (transport.sessionId === undefined) await server.close() // Refused, because the request was not `initialize`.
    return response
  }

  #keep(id: string, transport: Transport): void {
    const closed = transport.onclose
    transport.onclose = () => {
      this.#open.delete(id)
      closed?.()
    }
    this.#open.set(id, transport)
    const [idle] = this.#open.values()
    if (this.#open.size > maxSessions) idle?.close().catch(() => {}) // A client that is still connected starts a new session.
  }
}
