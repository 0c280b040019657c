import type { McpServer } from '@modelcontextprotocol/server'
import type { SpaceService } from './service.js'
import {
  addTool,
  createLogForwarder,
  createProgressReporter,
  dataResult,
  describeTool,
  participantId,
  relayedResult,
  timeoutSeconds,
} from './tool.js'

interface ListArgs {
  readonly participant: string
  readonly timeout_seconds?: number
}

interface CallArgs extends ListArgs {
  readonly tool: string
  readonly arguments?: Record<string, unknown>
  readonly why?: string
}

const defaultSeconds = 60
/** Pages of a list of tools. */
const maxPages = 100

const listing = describeTool<ListArgs>({
  title: 'Which tools a participant has',
  description: 'Lists the tools that a participant offers, with the JSON Schema of their arguments.',
  input: { participant: participantId, timeout_seconds: timeoutSeconds(defaultSeconds) },
  required: ['participant'],
  annotations: { readOnlyHint: true },
})

const calling = describeTool<CallArgs>({
  title: "Call a participant's tool",
  description:
    'Calls a tool of a participant and gives back its result as it is. What this identity may not call but may propose is proposed, and waits until somebody approves it.',
  input: {
    participant: participantId,
    tool: { type: 'string', minLength: 1, description: 'name of the tool, as list_tools has it' },
    arguments: { type: 'object', description: 'arguments of the tool' },
    why: { type: 'string', description: 'why this tool, for everybody in the space to read' },
    timeout_seconds: timeoutSeconds(defaultSeconds),
  },
  required: ['participant', 'tool'],
  annotations: { openWorldHint: true },
})

/** The tools that participants offer. */
export function addCalls(server: McpServer, { space, log }: SpaceService): void {
  addTool(
    server,
    'list_tools',
    listing,
    async ({ participant, timeout_seconds: seconds = defaultSeconds }, { mcpReq: { signal } }) => {
      const tools: unknown[] = []
      let page: object = {}
      for (let pages = 0; pages < maxPages; pages++) {
        const options = { signal, timeoutMs: 1000 * seconds, propose: false }
        const result = await space.request(participant, 'tools/list', page, options)
        if (Array.isArray(result.tools)) tools.push(...result.tools)
        if (typeof result.nextCursor !== 'string') break
        page = { cursor: result.nextCursor }
      }
      return dataResult({ tools })
    },
  )
  addTool(
    server,
    'call_tool',
    calling,
    async ({ participant, tool, why, timeout_seconds: seconds = defaultSeconds, ...given }, context) => {
      const report = createProgressReporter(context, log)
      const params = { name: tool, arguments: given.arguments ?? {} }
      const result = await space.request(participant, 'tools/call', params, {
        signal: context.mcpReq.signal,
        timeoutMs: 1000 * seconds,
        ...(why !== undefined && { why }),
        ...(report && { onProgress: report }),
        onNotification: createLogForwarder(context, log),
      })
      return relayedResult(result)
    },
  )
}
