import type { CallableTool } from '@meup/agent-sdk'
import {
  ProtocolError as McpError,
  type McpServer,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { followCall } from './follow-call.js'
import type { Era, SpaceService } from './service.js'
import { failureResult, type Outcome, type OwnTools, type ToUri } from './tool.js'

/** Milliseconds that a tool may take without progress: clients give calls up by themselves. */
const callTimeoutMs = 3_600_000
/** In `_meta` of a call: why it is made. A tool has its own arguments alone. */
const whyKey = 'meup/why'

/** Serves the tools of a space, and those that participants offer, as `participant__tool`. */
export function serveTools(server: McpServer, service: SpaceService, own: OwnTools, era: Era): void {
  const { offers } = service
  server.server.setRequestHandler('tools/list', async () => ({
    tools: [...[...own.values()].map(({ definition }) => definition), ...(await offers.listTools())],
  }))
  server.server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name, arguments: args = {} } = params
    const ownTool = own.get(name)
    if (ownTool !== undefined) return ownTool.call(args, context)
    const tool = (await offers.tools()).get(name)
    if (tool === undefined) {
      const advice = 'list the tools again: its participant may have left'
      throw new McpError(ProtocolErrorCode.InvalidParams, `there is no tool ${name}; ${advice}`)
    }
    return callOffered(server, service, { tool, args, era }, context)
  })
}

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
): Promise<Outcome> {
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
