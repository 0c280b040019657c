import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { McpServer as McpServerEntry } from '@agentclientprotocol/sdk'
import { getRequestListener } from '@hono/node-server'
import {
  type CallableTool,
  ProposalError,
  type Reasoning,
  type SpaceClient,
  ToolError,
} from '@meup/agent-sdk'
import { nameTools } from '@meup/agent-sdk/internal'
import { isObject } from '@meup/folds'
import { FaultLog } from '@meup/mcp-bridge'
import { answerPost, markNumbers, type Post, readExactArguments } from '@meup/mcp-bridge/serve'
import { getErrorMessage, omitUndefined, PROTOCOL } from '@meup/protocol'
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { AgentCall } from './agent-call.js'

/** The name of the MCP server that offers the space's tools. */
const serverName = 'space'

/** Agents put the MCP server's name before the tool's name in different ways, or after it. */
const [prefix, suffix] = [new RegExp(`^(?:mcp[_-]+)?${serverName}[_-]+`), ` (${serverName} MCP Server)`]
/** Maximum remembered calls that have arrived, and characters of their arguments; the oldest are dropped. */
const [maxArrivals, maxArrivalChars] = [1000, 4 * 1024 * 1024]

interface ToolUse {
  readonly tool: string
  readonly arguments: unknown
}

/**
 * Calls that arrived at the MCP server with the space's tools, which logs them itself. If the agent also reports such a call in
 * ACP, that report is not logged again. An arrival grants nothing: a model writes names and arguments, so permissions are
 * decided as for any call.
 */
export class SpaceToolArrivals {
  #waiting: (ToolUse & { readonly chars: number })[] = []
  #chars = 0

  add(use: ToolUse): void {
    const arrival = { ...use, chars: JSON.stringify(use).length }
    this.#chars += arrival.chars
    this.#waiting.push(arrival)
    while (this.#waiting.length > maxArrivals || this.#chars > maxArrivalChars) this.#remove(0)
  }

  /** Whether a call with the same name and arguments arrived. Each arrival matches once. */
  take(call: AgentCall): boolean {
    const shown = readToolUse(call)
    if (shown === undefined) return false
    const index = this.#waiting.findIndex(
      (each) => each.tool === shown.tool && isDeepStrictEqual(each.arguments, shown.arguments),
    )
    if (index >= 0) this.#remove(index)
    return index >= 0
  }

  clear(): void {
    this.#waiting = []
    this.#chars = 0
  }

  #remove(index: number): void {
    for (const { chars } of this.#waiting.splice(index, 1)) this.#chars -= chars
  }
}

/** The space tool and arguments that a reported call names; `undefined` if it is not a call of a space tool. */
export function readToolUse({ name, title, rawInput }: AgentCall): ToolUse | undefined {
  if (isObject(rawInput) && rawInput.server === serverName && typeof rawInput.tool === 'string')
    return { tool: rawInput.tool, arguments: rawInput.arguments ?? {} }
  for (const text of [name, title]) {
    if (prefix.test(text)) return { tool: text.replace(prefix, ''), arguments: rawInput ?? {} }
    if (text.endsWith(suffix)) return { tool: text.slice(0, -suffix.length), arguments: rawInput ?? {} }
  }
  return undefined
}

export interface SpaceToolServer {
  /** The MCP server's entry for `session/new`. */
  readonly entry: McpServerEntry
  close(): Promise<void>
}

interface Served {
  readonly space: SpaceClient
  readonly arrivals: SpaceToolArrivals
  /** The run that calls belong to; `undefined` if no prompt is active. */
  readonly getRun: () => Reasoning | undefined
  /** Writes a line to the log of the program that runs the agent. */
  readonly log: (line: string) => void
}

/** Starts an MCP server on localhost that offers the agent its permitted tools. */
export async function serveSpaceTools(served: Served): Promise<SpaceToolServer> {
  const token = randomBytes(24).toString('base64url')
  const faults = new FaultLog(served.log, 'agent')
  const answer = async ({ request, body }: Post): Promise<Response> => {
    // Stateless: the server never sends unsolicited messages.
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    const server = createToolServer(served)
    await server.connect(transport)
    return transport.handleRequest(request, { parsedBody: body })
  }
  const listener = getRequestListener(async (request) => {
    if (!isSame(request.headers.get('authorization') ?? '', `Bearer ${token}`))
      return Response.json({ error: 'this server is for one agent alone' }, { status: 403 })
    return request.method === 'POST' ? answerPost(request, faults, answer) : answer({ request, answers: [] })
  })
  const http = createServer((request, response) => {
    listener(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => http.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const headers = [{ name: 'authorization', value: `Bearer ${token}` }]
  return {
    entry: { type: 'http', name: serverName, url: `http://127.0.0.1:${port}/mcp`, headers },
    async close() {
      const closed = new Promise((resolve) => http.close(resolve))
      http.closeAllConnections()
      faults.end()
      await closed
    },
  }
}

function createToolServer({ space, arrivals, getRun }: Served): Server {
  const server = new Server({ name: serverName, version: PROTOCOL }, { capabilities: { tools: {} } })
  const list = async (): Promise<Map<string, CallableTool>> =>
    nameTools(await (getRun()?.tools() ?? space.tools()))
  server.setRequestHandler('tools/list', async () => ({
    tools: [...(await list())].map(([name, { description, inputSchema }]) => ({
      name,
      inputSchema: { type: 'object' as const, ...inputSchema },
      ...omitUndefined({ description }),
    })),
  }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const { name, arguments: given = {}, _meta } = params
    const args = readExactArguments(given, _meta)
    // Before the tools are listed: the agent may report the call at the same time.
    arrivals.add({ tool: name, arguments: args })
    const tool = (await list()).get(name)
    if (tool === undefined) return failure(`there is no tool ${name} in this space`)
    try {
      const { content, data } = await tool.call(args)
      return markNumbers({ content: content as never, ...(isObject(data) && { structuredContent: data }) })
    } catch (error) {
      if (error instanceof ToolError || error instanceof ProposalError) return failure(error.message)
      return failure(`the call failed: ${getErrorMessage(error)}`)
    }
  })
  return server
}

const failure = (text: string) => ({ content: [{ type: 'text' as const, text }], isError: true })

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}
