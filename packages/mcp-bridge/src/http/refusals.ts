import { type JSONRPCMessage, SdkHttpError } from '@modelcontextprotocol/client'
import { errorIn } from '../relay/failures.js'

/** Statuses that are about who asks, not about what is asked. */
const personal = [401, 403]

/** The answer to a message that came as an HTTP error: so revision 2026-07-28 answers an unknown method. */
export function answerIn(error: unknown, message: JSONRPCMessage): JSONRPCMessage | undefined {
  if (!(error instanceof SdkHttpError) || !('id' in message) || personal.includes(error.status))
    return undefined
  const { text } = error.data
  return errorIn(text)?.id === message.id ? (JSON.parse(String(text)) as JSONRPCMessage) : undefined
}

/** By the specification it is a 404; servers modelled on older examples of the SDK say 400 and the reason. */
export function hasLostSession(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false
  return error.status === 404 || (error.status === 400 && /session/i.test(String(error.data.text)))
}
