import { ConnectionError, ProposalError, ProtocolError, ToolError } from '@meup/agent-sdk'
import { dropResultNulls, indentJson, isObject, readBlocks } from '@meup/folds'
import { getErrorMessage, parseExact, stringifyExact } from '@meup/protocol'
import { type CallToolResult, type InputRequiredResult, isCallToolResult } from '@modelcontextprotocol/server'
import { serveText } from './errors.js'

/** The result of a tool, or a form that the client's user has to fill in first. */
export type ToolOutcome = CallToolResult | InputRequiredResult

/** Returns a value as structured content and as JSON text. */
export function dataResult(data: Record<string, unknown>, more: object = {}): CallToolResult {
  const json = stringifyExact(data)
  const text = json === JSON.stringify(data) ? JSON.stringify(data, null, 2) : indentJson(json)
  return { ...more, content: [{ type: 'text', text }], structuredContent: data }
}

export const textResult = (texts: readonly string[], data: Record<string, unknown>): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  structuredContent: data,
})

/**
 * Passes on a participant's tool result. Changes only members that the client could not parse, and never lets a result ask the
 * user for input. `toUri`: converts resource URIs for clients.
 */
export function relayedResult(
  { resultType: _, ...given }: Record<string, unknown>,
  toUri: ToUri = (uri) => uri,
): CallToolResult {
  const result = dropResultNulls(given)
  const { content, structuredContent: data, ...rest } = result
  const blocks = readBlocks(content)
  if (blocks.length === 0 && !Array.isArray(content))
    return dataResult(isObject(data) ? data : result, isObject(data) ? rest : {})
  const relayed = { ...result, content: blocks.map((block) => withUri(block, toUri)) }
  if (!isCallToolResult(relayed)) return dataResult(result)
  return relayed.isError === true ? withoutData(relayed) : relayed
}

/**
 * Moves the structured content of an error to its text. Clients would validate it with the tool's output schema, and reject the
 * whole result.
 */
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
    return false // Not JSON.
  }
}

export type ToUri = (uri: string) => string

/** Converts the resource URI in a content block, if it is a link or an embedded resource. */
export function withUri(block: unknown, toUri: ToUri): unknown {
  if (!isObject(block)) return block
  const { type, uri, resource } = block
  if (type === 'resource_link' && typeof uri === 'string') return { ...block, uri: toUri(uri) }
  if (type === 'resource' && isObject(resource) && typeof resource.uri === 'string')
    return { ...block, resource: { ...resource, uri: toUri(resource.uri) } }
  return block
}

interface Failure {
  /** Code of the error, or the state of an unapproved proposal. */
  readonly code: string
  /** Text of the error, followed by advice. */
  readonly message: string
}

function describeError(error: unknown): Failure {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message }
  if (error instanceof ConnectionError) return { code: error.code, message: error.explained }
  if (error instanceof ProposalError) return { code: error.outcome.state, message: error.message }
  if (error instanceof ToolError)
    return { code: 'tool_failed', message: serveText('tool_failed', { message: error.message }) }
  return { code: 'internal', message: getErrorMessage(error) }
}

export const formatCodedError = (error: unknown): string => {
  const { code, message } = describeError(error)
  return `${message} (${code})`
}

/**
 * Key in `_meta` of an error for its code. `structuredContent` cannot be used, since it has to match the tool's output schema.
 */
const codeKey = 'meup/code'

/** Converts an error to a tool result that a model can read. */
export const failureResult = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: formatCodedError(error) }],
  _meta: { [codeKey]: describeError(error).code },
})
