import type { McpResponsePayload } from '@meup/protocol'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import type { RelayElicitation } from './calls.js'
import { findId } from './message-id.js'

const method = 'elicitation/create'
/** Maximum open elicitations per server; further ones are cancelled. */
const maxOpen = 100

interface Elicitations {
  /** Handles an elicitation of the server, or its withdrawal; returns false for other messages. */
  onMessage(message: JSONRPCMessage, streamRequest: RequestId | undefined): boolean
}

/** Answers elicitations that a server sends during calls, in revisions before 2026-07-28. */
export function createElicitations(
  send: (message: JSONRPCMessage) => Promise<void>,
  getHandler: (streamRequest: RequestId | undefined) => RelayElicitation,
): Elicitations {
  const open = new Map<RequestId, AbortController>()

  const answer = async (
    id: RequestId,
    params: Record<string, unknown>,
    handle: RelayElicitation,
  ): Promise<void> => {
    const abort = new AbortController()
    const isAsked = open.size < maxOpen
    open.set(id, abort)
    const result = isAsked
      ? await handle(params, abort.signal).catch(() => ({ action: 'cancel' }))
      : { action: 'cancel' }
    // Sends no answer if the server has withdrawn the elicitation in the meantime.
    if (open.get(id) === abort && open.delete(id))
      await send({ jsonrpc: '2.0', id, result: { ...result } }).catch(() => {})
  }

  return {
    onMessage(message, streamRequest) {
      if (!('method' in message)) return false
      const { params = {} } = message
      if ('id' in message) {
        if (message.method !== method) return false
        answer(message.id, params, getHandler(streamRequest)).catch(() => {}) // Never rejects.
        return true
      }
      if (message.method !== 'notifications/cancelled') return false
      const id = findId(open, params.requestId)
      if (id === undefined) return false
      open.get(id)?.abort('the question was taken back')
      open.delete(id)
      return true
    },
  }
}

/** A result of revision 2026-07-28 that requires input: the request has to be repeated with the answers. */
export interface InputRequired {
  readonly inputRequests: Readonly<Record<string, unknown>>
  readonly requestState?: unknown
}

export function readInputRequired({ result }: McpResponsePayload): InputRequired | undefined {
  if (result?.resultType !== 'input_required') return undefined
  const { inputRequests = {}, requestState } = result
  return { inputRequests: Object(inputRequests) as InputRequired['inputRequests'], requestState }
}

/** Answers the elicitations, by key; `undefined` = the server requires input that is not an elicitation. */
export async function answerAll(
  { inputRequests }: InputRequired,
  handle: RelayElicitation,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  const entries = Object.entries(inputRequests).map(
    ([key, request]) => [key, Object(request) as { method?: unknown; params?: unknown }] as const,
  )
  if (entries.some(([, request]) => request.method !== method)) return undefined
  const answers: Record<string, unknown> = {}
  // One after another, because a person fills in the forms.
  for (const [key, { params }] of entries)
    answers[key] = await handle(Object(params) as Record<string, unknown>, signal)
  return answers
}
