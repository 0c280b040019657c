import { randomUUID } from 'node:crypto'
import { type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { refuse } from './door.js'

type Transport = WebStandardStreamableHTTPServerTransport

/** Sessions past this many are ended, those first that were idle longest: clients may go without a word. */
const most = 100

/** Streamable HTTP up to revision 2025-11-25: each client has a session, over which the server may ask it, too. */
export class Sessions {
  readonly #create: () => McpServer
  /** By when they were used last. */
  readonly #open = new Map<string, Transport>()

  constructor(create: () => McpServer) {
    this.#create = create
  }

  async handle(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null) return this.#begin(request)
    const known = this.#open.get(id)
    if (known === undefined) return refuse(404, 'there is no such session; begin another one')
    this.#open.delete(id)
    this.#open.set(id, known)
    return known.handleRequest(request)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()))
  }

  async #begin(request: Request): Promise<Response> {
    const transport: Transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#keep(id, transport),
    })
    const server = this.#create()
    await server.connect(transport)
    const response = await transport.handleRequest(request)
    if (transport.sessionId === undefined) await server.close() // It was no greeting, and is refused.
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
    if (this.#open.size > most) void idle?.close()
  }
}
