import { ConnectionError, ProposalError, ProtocolError, ToolError } from '@meup/agent-sdk'
import { dropResultNulls, isObject } from '@meup/folds'
import type { McpRequestPayload } from '@meup/protocol'
import { parseExact, stringifyExact } from '@meup/protocol'
import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  isCallToolResult,
  type JSONObject,
  type LoggingLevel,
  type ServerContext,
  type StandardSchemaWithJSON,
  type Tool,
  type ToolAnnotations,
} from '@modelcontextprotocol/server'
import type { TaskStart, Work } from './tasks.js'

export type Outcome = CallToolResult | InputRequiredResult

interface ToolSpec {
  readonly title: string
  readonly description: string
  /** JSON Schemas of the arguments. */
  readonly input?: Readonly<Record<string, JSONObject>>
  readonly required?: readonly string[]
  readonly annotations?: ToolAnnotations
}

/** The description of a tool. Create it once: its schema is compiled. */
interface Described<Args> {
  readonly definition: Omit<Tool, 'name'>
  readonly schema: StandardSchemaWithJSON<Args, Args>
}

export function describeTool<Args = Record<string, never>>({
  input = {},
  required = [],
  ...spec
}: ToolSpec): Described<Args> {
  const inputSchema = {
    type: 'object' as const,
    properties: { ...input },
    required: [...required],
    additionalProperties: false,
  }
  return { definition: { ...spec, inputSchema }, schema: fromJsonSchema<Args>(inputSchema) }
}

interface OwnTool {
  readonly definition: Tool
  call(args: unknown, context: ServerContext): Promise<Outcome>
  /** Begins the same as a task. Absent: it is done at once. Throws for wrong arguments. */
  begin?(args: unknown, start: TaskStart, context: ServerContext): Promise<Work>
}

/** The tools of the space itself, by name. */
export type OwnTools = Map<string, OwnTool>

/** Adds a tool. Errors of its handler become results that say what to do. */
export function addTool<Args>(
  tools: OwnTools,
  name: string,
  { definition, schema }: Described<Args>,
  handle: (args: Args, context: ServerContext) => Promise<Outcome>,
  begin?: (args: Args, start: TaskStart, context: ServerContext) => Work,
): void {
  const read = async (args: unknown): Promise<Args> => {
    const checked = await schema['~standard'].validate(args ?? {})
    if (checked.issues === undefined) return checked.value
    const problems = checked.issues.map(({ message }) => message).join('; ')
    throw new ProtocolError('invalid_request', `Invalid arguments for tool ${name}: ${problems}`)
  }
  const call: OwnTool['call'] = async (args, context) => {
    try {
      return await handle(await read(args), context)
    } catch (error) {
      return failureResult(error)
    }
  }
  tools.set(name, {
    definition: { name, ...definition },
    call,
    ...(begin && { begin: async (args, ...about) => begin(await read(args), ...about) }),
  })
}

/** A value as structured content and as JSON text. */
export const dataResult = (data: Record<string, unknown>, more: object = {}): CallToolResult => ({
  ...more,
  content: [{ type: 'text', text: JSON.stringify(data, null, 2) }],
  structuredContent: data,
})

export const textResult = (texts: readonly string[], data: Record<string, unknown>): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  structuredContent: data,
})

/**
 * What a participant gave back as the result of a tool, as it stands; what this client could not read as data. It is a
 * result and nothing else: only `elicitation/create` asks the user for something. `toUri`: how clients name its resources.
 */
export function relayedResult(
  { resultType: _, ...given }: Record<string, unknown>,
  toUri: ToUri = (uri) => uri,
): CallToolResult {
  const result = dropResultNulls(given)
  const { content, structuredContent: data, ...rest } = result
  if (!Array.isArray(content)) return dataResult(isObject(data) ? data : result, isObject(data) ? rest : {})
  const relayed = { ...result, content: content.map((block: unknown) => withUri(block, toUri)) }
  if (!isCallToolResult(relayed)) return dataResult(result)
  return relayed.isError === true ? withoutData(relayed) : relayed
}

/** The data of an error as a text: clients would hold it against the schema of the tool's results, and reject all of it. */
function withoutData({ structuredContent: data, ...error }: CallToolResult): CallToolResult {
  if (data === undefined) return error
  const text = String(stringifyExact(data))
  const isShown = error.content.some((block) => block.type === 'text' && isSameJson(block.text, text))
  return isShown ? error : { ...error, content: [...error.content, { type: 'text', text }] }
}

function isSameJson(shown: string, text: string): boolean {
  try {
    return stringifyExact(parseExact(shown)) === text
  } catch {
    return false // It is no JSON.
  }
}

export type ToUri = (uri: string) => string

/** A content block of which a resource can be read: links, and what is embedded. */
export function withUri(block: unknown, toUri: ToUri): unknown {
  if (!isObject(block)) return block
  const { type, uri, resource } = block
  if (type === 'resource_link' && typeof uri === 'string') return { ...block, uri: toUri(uri) }
  if (type === 'resource' && isObject(resource) && typeof resource.uri === 'string')
    return { ...block, resource: { ...resource, uri: toUri(resource.uri) } }
  return block
}

export const participantId = { type: 'string', minLength: 1, description: 'id of a participant' }

export const timeoutSeconds = (fallback: number) => ({
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 86_400,
  description: `how long to wait, in seconds; default ${fallback}`,
})

interface Failure {
  /** Code of the error, or the state of the proposal. */
  readonly code: string
  /** What happened and what to do. */
  readonly message: string
}

function describeError(error: unknown): Failure {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message }
  if (error instanceof ConnectionError) {
    return { code: error.code, message: `${error.message}; ${error.hint}` }
  }
  if (error instanceof ProposalError) return { code: error.outcome.state, message: error.message }
  if (error instanceof ToolError) return { code: 'tool_failed', message: `the tool failed: ${error.message}` }
  return { code: 'internal', message: error instanceof Error ? error.message : String(error) }
}

export const formatError = (error: unknown): string => {
  const { code, message } = describeError(error)
  return `${message} (${code})`
}

/** In `_meta` of an error: its code. `structuredContent` has to match the schema of a tool's results. */
const codeKey = 'meup/code'

/** An error as the result of a tool, for models to read. */
export const failureResult = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: formatError(error) }],
  _meta: { [codeKey]: describeError(error).code },
})

interface Report {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Reports progress to the client; `undefined` if it did not ask for progress. */
export function createProgressReporter(
  { mcpReq }: ServerContext,
  log: (line: string) => void,
): ((report: Report) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  return (report) => {
    mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, ...report } })
      .catch((error: Error) => log(`progress could not be told: ${error.message}`))
  }
}

const levels: ReadonlySet<unknown> = new Set<LoggingLevel>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
])

/** Forwards log messages about a call, from the level that the client has set. */
export function createLogForwarder(
  { mcpReq }: ServerContext,
  log: (line: string) => void,
): (notification: McpRequestPayload) => void {
  return ({ method, params = {} }) => {
    const { level, data, logger } = params
    if (method !== 'notifications/message' || !levels.has(level)) return
    mcpReq
      .log(level as LoggingLevel, data, typeof logger === 'string' ? logger : undefined)
      .catch((error: Error) => log(`a log message could not be told: ${error.message}`))
  }
}
