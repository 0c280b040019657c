import { randomUUID } from 'node:crypto'
import type { CallableTool } from '@meup/agent-sdk'
import {
  ProtocolError as McpError,
  type McpServer,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { markNumbers, readExactArguments } from '../../exact-numbers.js'
import { beginTask, followCall } from '../calls/follow-call.js'
import { sendTaskStatus } from '../calls/serve-tasks.js'
import type { TaskStart, TaskWork } from '../calls/tasks.js'
import { serveError } from '../errors.js'
import { failureResult, formatCodedError, type ToolOutcome, type ToUri } from '../results.js'
import type { Era, SpaceService } from '../service.js'
import type { OwnTools } from './tool.js'

/** Milliseconds without progress after which a call times out. Clients usually have shorter timeouts. */
const callTimeoutMs = 3_600_000
/** Key in `_meta` of a call for its reason, which cannot be an argument: tools only get their own arguments. */
const whyKey = 'meup/why'

interface ToolsOptions {
  readonly era: Era
  /** Identity of the client, to limit its tasks. */
  readonly client: string
}

/** Serves the space's own tools, such as `ask`, and the tools of participants as `participant__tool`. */
export function serveTools(
  server: McpServer,
  service: SpaceService,
  own: OwnTools,
  { era, client }: ToolsOptions,
): void {
  const { offers, tasks } = service
  const hasTasks = era === 'legacy'
  server.server.setRequestHandler('tools/list', async () => {
    const tools = [...own.values()].map(({ definition, begin }) => ({
      ...definition,
      hasTasks: begin !== undefined,
    }))
    const offered = (await offers.listTools()).map((tool) => ({ ...tool, hasTasks: true }))
    return {
      tools: [...tools, ...offered].map(({ hasTasks: mayBeTask, execution: _, ...tool }) => ({
        ...tool,
        ...(hasTasks && mayBeTask && { execution: { taskSupport: 'optional' as const } }),
      })),
    }
  })
  const find = async (name: string): Promise<CallableTool> => {
    const tool = (await offers.tools()).get(name)
    if (tool !== undefined) return tool
    throw serveError('unknown_tool', { tool: name })
  }
  const begin = async (name: string, args: object, context: ServerContext): Promise<Begin> => {
    const ownTool = own.get(name)
    if (ownTool === undefined) {
      const offered = { tool: await find(name), args, era }
      return async (start) => beginOffered(server, service, offered, context, start)
    }
    const { begin: beginOwn } = ownTool
    if (beginOwn !== undefined) return (start) => beginOwn(args, start, context).catch(refuseArguments)
    throw serveError('no_task', { tool: name })
  }
  server.server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: given = {}, task: wanted } = params
    const args = readExactArguments(given, context.mcpReq._meta)
    if (!hasTasks || wanted === undefined) {
      const ownTool = own.get(name)
      if (ownTool !== undefined) return markNumbers(await ownTool.call(args, context))
      return markNumbers(await callOffered(server, service, { tool: await find(name), args, era }, context))
    }
    const task = await tasks.begin(randomUUID(), {
      client,
      ttl: wanted.ttl,
      begin: await begin(name, args, context),
      onChange: (state) => sendTaskStatus(server, service, state),
    })
    // `content` is empty, but the SDK validates results with a schema that requires it.
    return { content: [], task: task.state }
  })
}

/** Throws an MCP error: if a task cannot start, there is no result that could contain the error. */
function refuseArguments(error: unknown): never {
  throw new McpError(ProtocolErrorCode.InvalidParams, formatCodedError(error))
}

type Begin = (start: TaskStart) => Promise<TaskWork>

interface OfferedCall {
  readonly tool: Pick<CallableTool, 'participant' | 'name'>
  readonly args: object
  readonly era: Era
}

async function callOffered(
  server: McpServer,
  service: SpaceService,
  { tool: { participant, name }, args, era }: OfferedCall,
  context: ServerContext,
): Promise<ToolOutcome> {
  const why = context.mcpReq._meta?.[whyKey]
  const reportsProgress = context.mcpReq._meta?.progressToken !== undefined
  const toUri: ToUri = (uri) => service.uris.offered(participant, uri)
  try {
    return await followCall(server, service, { era, toUri }, context, ({ onProgress, ...options }) =>
      service.space.request(
        participant,
        'tools/call',
        { name, arguments: args },
        {
          ...options,
          timeoutMs: callTimeoutMs,
          ...(typeof why === 'string' && { why }),
          ...(reportsProgress && { onProgress }),
        },
      ),
    )
  } catch (error) {
    return failureResult(error)
  }
}

/** Starts a call of a participant's tool as a task: the result is kept, so that the client can disconnect. */
function beginOffered(
  server: McpServer,
  service: SpaceService,
  { tool: { participant, name }, args }: OfferedCall,
  context: ServerContext,
  start: TaskStart,
): TaskWork {
  const { id, timeoutMs } = start
  const { uris } = service
  const why = context.mcpReq._meta?.[whyKey]
  const toUri: ToUri = (uri) => uris.offered(participant, uri)
  return beginTask(server, { start, toUri }, context, (options) =>
    service.space.request(
      participant,
      'tools/call',
      { name, arguments: args },
      { ...options, id, timeoutMs, approvalMs: timeoutMs, ...(typeof why === 'string' && { why }) },
    ),
  )
}
