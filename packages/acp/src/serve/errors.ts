import { RequestError } from '@agentclientprotocol/sdk'
import { ConnectionError } from '@meup/agent-sdk'
import { getErrorMessage, ProtocolError } from '@meup/protocol'

/** The error's message, with its code or a hint. */
export function describeProblem(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  if (error instanceof ConnectionError) return `${error.message}; ${error.hint}`
  return getErrorMessage(error)
}

/** JSON-RPC's code for an internal error; ACP's own codes have more specific meanings. */
const internalError = -32603

/** Converts an error to one that an ACP client shows with its message. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  const isCoded = error instanceof ProtocolError || error instanceof ConnectionError
  return new RequestError(internalError, describeProblem(error), isCoded ? { code: error.code } : undefined)
}
