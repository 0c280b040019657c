import { ConnectionError, ProtocolError } from '@meup/agent-sdk/watch'

export const disconnectedError = () => new ConnectionError('unreachable', 'there is no connection')

/** The error as text, with advice if available. */
export function explainError(error: unknown): string {
  if (error instanceof ConnectionError) return error.explained
  if (error instanceof ProtocolError && error.code === 'unauthorized') {
    return 'The gateway does not take this token here. Check it, and the name of the space.'
  }
  return error instanceof Error ? error.message : String(error ?? 'the connection was closed')
}
