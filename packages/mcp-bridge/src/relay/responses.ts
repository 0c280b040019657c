import type { McpRequestPayload, McpResponsePayload } from '@meup/protocol'

/** JSON-RPC codes of what the relay itself has to answer, because the server did not. */
export const RelayError = {
  serverEnded: -32000,
  timedOut: -32001,
  /** As in the Language Server Protocol; MCP itself expects no answer to a cancelled request. */
  cancelled: -32800,
  noOutcome: -32603,
} as const

export function failure(code: number, message: string): McpResponsePayload {
  return { jsonrpc: '2.0', error: { code, message } }
}

/** The response with the id of the one who asked: none where the request had none. */
export function addressTo(request: McpRequestPayload, response: McpResponsePayload): McpResponsePayload {
  if (request.id !== undefined) return { ...response, id: request.id }
  const { id: _, ...rest } = response
  return rest
}
