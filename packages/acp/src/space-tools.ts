import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { McpServer as McpServerEntry, ToolCallUpdate } from '@agentclientprotocol/sdk'
import { getRequestListener } from '@hono/node-server'
import {
  type CallableTool,
  ProposalError,
  type Reasoning,
  type SpaceClient,
  ToolError,
} from '@meup/agent-sdk'
import { isObject } from '@meup/folds'
import { PROTOCOL } from '@meup/protocol'
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { AgentCall } from './agent-call.js'
import { getMessage } from './approvals.js'

/** What agents call the server of the space's tools. */
const serverName = 'space'

/** Agents write the server's name before the tool's, each in its own way. */
const prefix = new RegExp(`^(?:mcp[_-]+)?${serverName}[_-]+`)

/** Which calls of an agent go through the space: they are logged there, and need no permission of their own. */
export class SpaceToolUses {
  #names: ReadonlySet<string> = new Set()
  /** Calls that have come and were not shown by the agent yet, by the tool. */
  readonly #arrived = new Map<string, number>()

  offered(names: readonly string[]): void {
    this.#names = new Set(names)
  }

  arrived(name: string): void {
    this.#arrived.set(name, (this.#arrived.get(name) ?? 0) + 1)
  }

  isSpaceTool({ name, title, rawInput }: ToolCallUpdate): boolean {
    if (isObject(rawInput) && rawInput.server === serverName) return true
    return [name, title].some((each) => each != null && this.#find(each) !== undefined)
  }

  /** Whether a call came that this one shows. It counts once. */
  hasArrived({ title, name }: AgentCall): boolean {
    const tool = this.#find(name) ?? this.#find(title)
    const found = tool ?? [...this.#arrived.keys()][0]
    const count = found === undefined ? 0 : (this.#arrived.get(found) ?? 0)
    if (found === undefined || count === 0) return false
    this.#arrived.set(found, count - 1)
    return true
  }

  #find(text: string): string | undefined {
    const [first = ''] = text.split(/[\s(]/)
    const rest = prefix.test(first) ? first.replace(prefix, '') : undefined
    return rest !== undefined && this.#names.has(rest) ? rest : undefined
  }
}

export interface SpaceToolServer {
  /** For `session/new`. */
  readonly entry: McpServerEntry
  close(): Promise<void>
}

interface Served {
  readonly space: SpaceClient
  readonly uses: SpaceToolUses
  /** The run that calls are a part of; `undefined`: nobody has asked for anything. */
  readonly getRun: () => Reasoning | undefined
}

/** Serves the tools that the agent may call or propose to it alone, over HTTP on this machine. */
export async function serveSpaceTools(served: Served): Promise<SpaceToolServer> {
  const token = randomBytes(24).toString('base64url')
  const http = createServer(
    getRequestListener(async (request) => {
      if (!isSame(request.headers.get('authorization') ?? '', `Bearer ${token}`))
        return Response.json({ error: 'this server is for one agent alone' }, { status: 403 })
      // Each request is served by itself: there is nothing that the server would have to say unasked.
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      const server = createToolServer(served)
      await server.connect(transport)
      return transport.handleRequest(request)
    }),
  )
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const headers = [{ name: 'authorization', value: `Bearer ${token}` }]
  return {
    entry: { type: 'http', name: serverName, url: `http://127.0.0.1:${port}/mcp`, headers },
    async close() {
      const closed = new Promise((resolve) => http.close(resolve))
      http.closeAllConnections()
      await closed
    },
  }
}

function createToolServer({ space, uses, getRun }: Served): Server {
  const server = new Server({ name: serverName, version: PROTOCOL }, { capabilities: { tools: {} } })
  const list = async (): Promise<Map<string, CallableTool>> => {
    const tools = await (getRun()?.tools() ?? space.tools())
    const named = new Map(tools.map((tool) => [nameOf(tool), tool]))
    uses.offered([...named.keys()])
    return named
  }
  server.setRequestHandler('tools/list', async () => ({
    tools: [...(await list())].map(([name, { description, inputSchema }]) => ({
      name,
      inputSchema: { type: 'object' as const, ...inputSchema },
      ...(description !== undefined && { description }),
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }) => {
    uses.arrived(name)
    const tool = (await list()).get(name)
    if (tool === undefined) return failure(`there is no tool ${name} in this space`)
    try {
      const { content, data } = await tool.call(args)
      return {
        content: content as never,
        ...(isObject(data) && { structuredContent: data }),
      }
    } catch (error) {
      if (error instanceof ToolError || error instanceof ProposalError) return failure(error.message)
      return failure(`the call failed: ${getMessage(error)}`)
    }
  })
  return server
}

const nameOf = ({ participant, name }: CallableTool): string => `${participant}__${name}`
const failure = (text: string) => ({ content: [{ type: 'text' as const, text }], isError: true })

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}
