import { isObject } from '@meup/folds'
import type { McpResponsePayload } from '@meup/protocol'
import { ToolError } from './errors.js'

/** Returns the result of a JSON-RPC response. Throws `ToolError` if it is an error. */
export function getResult({ result, error }: McpResponsePayload): Record<string, unknown> {
  if (error === undefined || error === null) return readResult(result)
  // Any field may be missing: the gateway does not validate the error object.
  const { message, code, data } = Object(error) as Partial<NonNullable<McpResponsePayload['error']>>
  throw new ToolError(String(message ?? ''), code, data)
}

/** Converts a result to an object, as MCP requires: some servers send a string. */
function readResult(result: unknown): Record<string, unknown> {
  if (isObject(result)) return result
  if (result === undefined || result === null) return {}
  return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }
}
