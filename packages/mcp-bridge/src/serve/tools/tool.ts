import {
  fromJsonSchema,
  type JSONObject,
  type ServerContext,
  type StandardSchemaWithJSON,
  type Tool,
  type ToolAnnotations,
} from '@modelcontextprotocol/server'
import type { TaskStart, TaskWork } from '../calls/tasks.js'
import { serveError } from '../errors.js'
import { failureResult, type ToolOutcome } from '../results.js'

interface ToolSpec {
  readonly title: string
  readonly description: string
  /** JSON Schemas of the arguments, by name. */
  readonly input?: Readonly<Record<string, JSONObject>>
  readonly required?: readonly string[]
  readonly annotations?: ToolAnnotations
}

/** A tool's definition, and the validator of its arguments. Created once, because the schema is compiled. */
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
  call(args: unknown, context: ServerContext): Promise<ToolOutcome>
  /** Starts the same work as a task; absent: the tool always completes immediately. Rejects if the arguments are invalid. */
  begin?(args: unknown, start: TaskStart, context: ServerContext): Promise<TaskWork>
}

/** The space's own tools, such as `ask`, by name. */
export type OwnTools = Map<string, OwnTool>

/** Adds a tool. If `handle` throws, the error becomes a result with advice. */
export function addTool<Args>(
  tools: OwnTools,
  name: string,
  { definition, schema }: Described<Args>,
  handle: (args: Args, context: ServerContext) => Promise<ToolOutcome>,
  begin?: (args: Args, start: TaskStart, context: ServerContext) => TaskWork,
): void {
  const read = async (args: unknown): Promise<Args> => {
    const checked = await schema['~standard'].validate(args ?? {})
    if (checked.issues === undefined) return checked.value
    const problems = checked.issues.map(({ message }) => message).join('; ')
    throw serveError('invalid_arguments', { tool: name, problems })
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

const participantId = { type: 'string', minLength: 1, description: 'id of a participant' }

export const message = { type: 'string', minLength: 1, description: 'what to say' }
export const addressees = {
  type: 'array',
  items: participantId,
  minItems: 1,
  maxItems: 64,
  description: 'who alone gets it; default: everyone in the space',
}

export const timeoutSeconds = (fallback: number) => ({
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 86_400,
  description: `how long to wait, in seconds; default ${fallback}`,
})
