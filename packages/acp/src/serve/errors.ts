import { RequestError } from '@agentclientprotocol/sdk'
import { ConnectionError } from '@meup/agent-sdk'
import { getErrorMessage, ProtocolError } from '@meup/protocol'

/** The problem, with advice. */
export function describeProblem(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  if (error instanceof ConnectionError) return `${error.message}; ${error.hint}`
  return getErrorMessage(error)
}

/** JSON-RPC's own code; ACP's codes have other meanings. */
const internalError = -32603

/** An error for an ACP client, with its reason. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  const isCoded = error instanceof ProtocolError || error instanceof ConnectionError
  return new RequestError(internalError, describeProblem(error), isCoded ? { code: error.code } : undefined)
}
