import { isObject } from '@meup/folds'
import type { EnvelopeOf, Kind } from '@meup/protocol'
import { agentErrors, schemaErrors } from './errors.js'
import type { Reasoning, ReasonOptions } from './reasoning.js'
import {
  type InputSchema,
  type JsonSchema,
  type OutputOf,
  type ReadSchema,
  readSchema,
  type StandardSchema,
} from './schemas.js'

export interface ToolDefinition<Schema extends InputSchema> {
  readonly description?: string
  /** A TypeBox, zod or other Standard Schema, or a JSON Schema; absent = no arguments. */
  readonly input?: Schema
  readonly annotations?: ToolAnnotations
}

/** MCP's hints about a tool's behaviour. */
interface ToolAnnotations {
  readonly title?: string
  /** The tool changes nothing. Calls by its own participant are executed before they are logged. */
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

export interface ToolContext {
  /** Aborted when the asker cancels or the space closes. */
  readonly signal: AbortSignal
  readonly request: EnvelopeOf<typeof Kind.mcpRequest>
  /** Reports progress if the asker requested it. `value` increases up to `total`. */
  progress(value: number, total?: number, message?: string): void
  /** Opens a reasoning run about this request. */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
}

/** Returns text, a value for `structuredContent`, or a complete MCP result (an object with `content`). */
export type ToolHandler<Schema extends InputSchema> = (
  args: OutputOf<Schema>,
  context: ToolContext,
) => unknown

/** A tool as created by `tool()`. */
export interface OwnTool {
  readonly name: string
  readonly description: string | undefined
  readonly annotations: ToolAnnotations | undefined
  readonly input: ReadSchema
  readonly handler: (args: never, context: ToolContext) => unknown
}

/** Creates a tool for `space.tool` and `space.agent`. Throws `TypeError` if its input is not a schema of an object. */
export function tool<Schema extends InputSchema>(
  name: string,
  { description, input, annotations }: ToolDefinition<Schema>,
  handler: ToolHandler<Schema>,
): OwnTool {
  if (name === '') throw agentErrors.unnamedTool()
  const refuse = (error: unknown): never => {
    throw refusal(name, error)
  }
  try {
    const read = readSchema(input === undefined ? noArguments : input, toObjectSchema)
    const jsonSchema = read.jsonSchema.catch(refuse)
    jsonSchema.catch(() => {}) // Callers that await the promise get the error.
    return { name, description, annotations, input: { ...read, jsonSchema }, handler }
  } catch (error) {
    return refuse(error)
  }
}

const noArguments: StandardSchema<object> = {
  '~standard': {
    version: 1,
    validate: (value) => (isObject(value) ? { value } : { issues: [{ message: 'Expected object' }] }),
    jsonSchema: { input: () => ({ type: 'object', properties: {} }) },
  },
}

const refusal = (name: string, error: unknown): unknown =>
  error instanceof TypeError ? agentErrors.refusedTool(name, error) : error

/** Requires an object schema, like MCP: clients that find another type in a tool list reject the whole list. */
function toObjectSchema(schema: JsonSchema): JsonSchema {
  const { type = 'object' } = schema
  if (type !== 'object') throw schemaErrors.notAnObject(type)
  return { type, ...schema }
}
