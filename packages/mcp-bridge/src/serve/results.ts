import { ConnectionError, ProposalError, ProtocolError, ToolError } from '@meup/agent-sdk'
import { dropResultNulls, indentJson, isObject, readBlocks } from '@meup/folds'
import { getErrorMessage, parseExact, stringifyExact } from '@meup/protocol'
import { type CallToolResult, type InputRequiredResult, isCallToolResult } from '@modelcontextprotocol/server'

/** The outcome of a tool: its result, or a form for the client's user. */
export type ToolOutcome = CallToolResult | InputRequiredResult

/** A value as structured content and as JSON text. */
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
 * A participant's tool result unchanged, except for data that this client could not parse. It is only a result: only
 * `elicitation/create` asks the user for input. `toUri`: converts resource URIs for clients.
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
 * Moves the data of an error into its text, because clients would validate it by the tool's result schema, and reject the whole
 * result.
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

/** A content block with a resource URI for clients: links and embedded resources. */
export function withUri(block: unknown, toUri: ToUri): unknown {
  if (!isObject(block)) return block
  const { type, uri, resource } = block
  if (type === 'resource_link' && typeof uri === 'string') return { ...block, uri: toUri(uri) }
  if (type === 'resource' && isObject(resource) && typeof resource.uri === 'string')
    return { ...block, resource: { ...resource, uri: toUri(resource.uri) } }
  return block
}

interface Failure {
  /** Code of the error, or state of the proposal. */
  readonly code: string
  /** The event and the advice. */
  readonly message: string
}

function describeError(error: unknown): Failure {
  if (error instanceof ProtocolError) return { code: error.code, message: error.message }
  if (error instanceof ConnectionError) {
    return { code: error.code, message: `${error.message}; ${error.hint}` }
  }
  if (error instanceof ProposalError) return { code: error.outcome.state, message: error.message }
  if (error instanceof ToolError) return { code: 'tool_failed', message: `the tool failed: ${error.message}` }
  return { code: 'internal', message: getErrorMessage(error) }
}

export const formatCodedError = (error: unknown): string => {
  const { code, message } = describeError(error)
  return `${message} (${code})`
}

/** Key in `_meta` of an error: its code. `structuredContent` would have to match the tool's result schema. */
const codeKey = 'meup/code'

/** An error as a tool result, for models. */
export const failureResult = (error: unknown): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: formatCodedError(error) }],
  _meta: { [codeKey]: describeError(error).code },
})
