import { type EnvelopeOf, Kind, type McpResponsePayload, ProtocolError } from '@meup/protocol'
import { ConnectionError } from '../participant/errors.js'
import type { Seat } from '../participant/seat.js'
import { excerptOf, internalError } from './excerpt.js'

type Request = EnvelopeOf<typeof Kind.mcpRequest>

/** How long, in ms, an answer waits in all for a rate that has run out. */
const patience = 10_000
/** Characters of a refusal that the asker is told: it may quote what was refused. */
const maxReasonChars = 500

export const failure = (code: number, message: string): McpResponsePayload => ({ error: { code, message } })

/** Answers a request. What the space does not take as a result, it may take as an error: nobody waits in vain. */
export async function respond(
  space: Pick<Seat, 'send'>,
  request: Request,
  answer: McpResponsePayload,
): Promise<void> {
  const { id, from, context, payload } = request
  const send = (response: McpResponsePayload): Promise<unknown> =>
    space.send({
      kind: Kind.mcpResponse,
      to: [from],
      correlationId: id,
      ...(context !== undefined && { context }),
      payload: { jsonrpc: '2.0', id: payload.id ?? id, ...response },
    })
  try {
    await patiently(() => send(answer))
  } catch (error) {
    if (!mayBeSaid(error)) throw error
    const refused = (): Promise<unknown> => {
      const reason = messageOf(error).slice(0, maxReasonChars).toWellFormed()
      return patiently(() => send(failure(internalError, `the response was refused: ${reason}`)))
    }
    const excerpt = isTooLarge(error) && excerptOf(payload.method, answer, error)
    if (excerpt) await patiently(() => send(excerpt)).catch(refused)
    else await refused()
  }
}

const isTooLarge = (error: unknown): error is ProtocolError =>
  error instanceof ProtocolError && error.code === 'payload_too_large'

/** Whether an error may get through where the result did not. */
function mayBeSaid(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== 'capability_violation'
  return !(error instanceof ConnectionError)
}

/** Does it again as long as it only comes too fast. */
export async function patiently<Value>(act: () => Promise<Value>): Promise<Value> {
  for (let left = patience; ; ) {
    try {
      return await act()
    } catch (error) {
      const wait =
        error instanceof ProtocolError && error.code === 'rate_limited' && error.details.retryAfterMs
      if (typeof wait !== 'number' || wait > left) throw error
      left -= wait
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
