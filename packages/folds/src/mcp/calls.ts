import { copyNumberTexts, type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import { defaultGuard } from '../default-guard.js'
import { type Guard, guarded } from '../redact.js'
import { head, isBlank, isObject } from '../text.js'

type Payload = Readonly<Record<string, unknown>>

/** `tools/call` names its operation by a parameter; other methods are operations themselves. */
const toolsCall = 'tools/call'
const maxNameChars = 128

export const isToolCall = ({ method }: Payload): boolean => method === toolsCall

/** The tool of a `tools/call`, otherwise the method; at most 128 characters. */
export const getToolName = (payload: Payload): string => head(nameIn(payload), maxNameChars)

/** Returns `getToolName`, masked. Masks before it cuts, so that no part of a secret remains. */
export const guardedToolName = (payload: Payload, guard: Guard): string =>
  head(guarded(nameIn(payload), guard), maxNameChars)

function nameIn({ method, params }: Payload): string {
  const name = method === toolsCall && isObject(params) ? params.name : undefined
  return typeof name === 'string' && !isBlank(name) ? name : String(method)
}

/** The arguments of a `tools/call`, otherwise the parameters; default `{}`. */
export function getParameters({ method, params }: Payload): unknown {
  if (!isObject(params)) return params ?? {}
  if (method === toolsCall) return params.arguments ?? {}
  const { _meta, ...rest } = params
  return copyNumberTexts(rest, params)
}

/** Whether a message is a notification, which gets no response. */
export const isNotification = ({ method }: Payload): boolean =>
  typeof method === 'string' && method.startsWith('notifications/')

/** A question of a callee to its caller during a call [MEUP-3.26]. */
export const isElicitation = ({ method }: Payload): boolean => method === 'elicitation/create'

/** The request that a `notifications/cancelled` names, and the reason; `undefined` for other messages. */
export function getCancellation({
  method,
  params,
}: Payload): { requestId: string; reason: unknown } | undefined {
  if (method !== 'notifications/cancelled' || !isObject(params)) return undefined
  const { requestId, reason } = params
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return undefined
  return { requestId: String(requestId), reason }
}

/** `guardedToolName` with the default guard. */
export const shownToolName = (payload: Envelope['payload']): string => guardedToolName(payload, defaultGuard)

/** Decisions that refuse a call. `blocked` withholds one text of a call, and after `review` the call continued. */
const refusals: ReadonlySet<unknown> = new Set(['denied', 'limited'])

/** The envelope that a `system.decision` is about, as if its participant had sent it; `undefined` without a participant. */
export function getAttempt(decision: Envelope): Envelope | undefined {
  const { payload, to, correlationId: _, context: __, ...rest } = decision
  const [participant] = to ?? []
  if (participant === undefined) return undefined
  const { attemptedCorrelation } = payload as Partial<DecisionPayload>
  return {
    ...rest,
    payload,
    from: participant,
    ...(typeof payload.context === 'string' && { context: payload.context }),
    ...(attemptedCorrelation !== undefined && { correlationId: attemptedCorrelation }),
  }
}

/** Returns `true` if a `system.decision` refused a call or a proposal, not another envelope. */
export const isRefusedCall = ({ decision, attemptedKind }: Partial<DecisionPayload>): boolean =>
  refusals.has(decision) && (attemptedKind === Kind.mcpRequest || attemptedKind === Kind.mcpProposal)
