import { RequestError } from '@agentclientprotocol/sdk'
import { ConnectionError } from '@meup/agent-sdk'
import { errorsOf, getErrorMessage, ProtocolError } from '@meup/protocol'

/** The messages to ACP clients: what happened, with the value. Then what to do. */
export const editorTexts = {
  unknown_agent: 'This space has no agent {agent}. Choose one of {agents}.',
  no_agent: 'This space has no agent. Choose another participant with meup acp --to.',
  busy: 'A prompt of this session is in progress. Cancel it, or wait for its end.',
  program_ended: 'The program of {agent} ended before an answer. Ask again.',
  replaced: 'The log of the space was replaced. Ask again.',
} as const

/** JSON-RPC's code for an internal error; ACP's own codes have more specific meanings. */
const internalError = -32603

export const editorError = errorsOf(
  editorTexts,
  (_, message, __, code: number | undefined = internalError) => new RequestError(code, message),
)

/** The error's message, with its code or a hint. */
export function describeProblem(error: unknown): string {
  if (error instanceof ProtocolError) return `${error.message} (${error.code})`
  return error instanceof ConnectionError ? error.explained : getErrorMessage(error)
}

/** Converts an error to one that an ACP client shows with its message. */
export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  const isCoded = error instanceof ProtocolError || error instanceof ConnectionError
  return new RequestError(internalError, describeProblem(error), isCoded ? { code: error.code } : undefined)
}
