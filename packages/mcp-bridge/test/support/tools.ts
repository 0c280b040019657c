import { EventEmitter, once } from 'node:events'
import {
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
const input = <Args>(properties: Record<string, { type: string }>) =>
  fromJsonSchema<Args>({ type: 'object', properties })

/** Events in the tools of all servers of a test. Emitting `changed` makes the servers send a notification of changed tools. */
export class Happenings extends EventEmitter<{ begun: []; cancelled: []; changed: [] }> {
  /** Number of cancelled calls of the tool `wait`. */
  cancelled = 0

  constructor() {
    super()
    this.on('cancelled', () => this.cancelled++)
  }
}

/** The form of the tool `book`, which returns the filled-in values. */
const seatForm = {
  message: 'Which seat?',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      seat: { type: 'string' as const, enum: ['window', 'aisle'] },
      name: { type: 'string' as const },
    },
    required: ['seat'],
  },
}

/** Creates a server with the official SDK. Its tools try out the features of a connection. */
export function createServer(happenings: Happenings): McpServer {
  const server = new McpServer({ name: 'tried', version: '1.2.3' }, { capabilities: { logging: {} } })
  server.registerTool(
    'add',
    { inputSchema: input<{ a: number; b: number }>({ a: { type: 'number' }, b: { type: 'number' } }) },
    async ({ a, b }) => text(String(a + b)),
  )
  server.registerTool('count', { inputSchema: input<{ to: number }>({ to: { type: 'number' } }) }, count)
  server.registerTool(
    'log',
    { inputSchema: input<{ data: string }>({ data: { type: 'string' } }) },
    async ({ data }, { mcpReq }) => {
      await mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
      return text('logged')
    },
  )
  server.registerTool('talk', {}, async ({ mcpReq }) => {
    for (const level of ['debug', 'info', 'error'] as const) await mcpReq.log(level, `a ${level}`)
    return text('said')
  })
  server.registerTool('book', {}, async ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'seat')
    if (answer.kind === 'missing')
      return inputRequired({ inputRequests: { seat: inputRequired.elicit(seatForm) } })
    return text(JSON.stringify(answer))
  })
  server.registerTool('wait', {}, async (context) => {
    const { signal } = context.mcpReq
    happenings.emit('begun')
    if (!signal.aborted) await once(signal, 'abort')
    happenings.emit('cancelled')
    return text('cancelled')
  })
  return server
}

/** Reports progress up to `to`, and returns its progress token. */
async function count({ to }: { to: number }, { mcpReq }: ServerContext) {
  const progressToken = mcpReq._meta?.progressToken
  for (let progress = 1; progress <= to && progressToken !== undefined; progress++) {
    const params = { progressToken, progress, total: to, message: `${progress} of ${to}` }
    await mcpReq.notify({ method: 'notifications/progress', params })
  }
  return text(String(progressToken))
}
