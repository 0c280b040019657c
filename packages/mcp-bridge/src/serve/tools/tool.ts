import {
  type CallToolResult,
  fromJsonSchema,
  type InputRequiredResult,
  isCallToolResult,
  type McpServer,
  type ServerContext,
  type StandardSchemaWithJSON,
  type ToolAnnotations,
} from '@modelcontextprotocol/server'
import { failureResult } from '../failures.js'

type Outcome = CallToolResult | InputRequiredResult

interface ToolSpec {
  readonly title: string
  readonly description: string
  /** JSON Schemas of the arguments. */
  readonly input?: Readonly<Record<string, object>>
  readonly required?: readonly string[]
  readonly annotations?: ToolAnnotations
}

/** What clients are told of a tool. To be made once: its schema is compiled. */
export type Described<Args> = Omit<ToolSpec, 'input' | 'required'> & {
  readonly inputSchema: StandardSchemaWithJSON<Args, Args>
}

export function describeTool<Args = Record<string, never>>({
  input = {},
  required = [],
  ...spec
}: ToolSpec): Described<Args> {
  const inputSchema = fromJsonSchema<Args>({
    type: 'object',
    properties: input,
    required: [...required],
    additionalProperties: false,
  })
  return { ...spec, inputSchema }
}

/** Offers a tool. What its handler throws becomes a result that says what to do about it. */
export function addTool<Args>(
  server: McpServer,
  name: string,
  described: Described<Args>,
  handle: (args: Args, context: ServerContext) => Promise<Outcome>,
): void {
  server.registerTool(name, described, async (args, context) => {
    try {
      return await handle(args as Args, context)
    } catch (error) {
      return failureResult(error)
    }
  })
}

/** A value for programs, and the same as text for models. */
export const dataResult = (data: Record<string, unknown>): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(data, null, 2) }],
  structuredContent: data,
})

export const textResult = (texts: readonly string[], data: Record<string, unknown>): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  structuredContent: data,
})

/**
 * What a participant gave back as the result of a tool, as it stands; what this client could not read as data. It is a
 * result and nothing else: no participant may have this server ask the user for something.
 */
export function relayedResult({ resultType: _, ...result }: Record<string, unknown>): CallToolResult {
  return Array.isArray(result.content) && isCallToolResult(result) ? result : dataResult(result)
}

export const participantId = { type: 'string', minLength: 1, description: 'id of a participant' }

export const timeoutSeconds = (fallback: number) => ({
  type: 'number',
  exclusiveMinimum: 0,
  maximum: 86_400,
  description: `how long to wait, in seconds; default ${fallback}`,
})
