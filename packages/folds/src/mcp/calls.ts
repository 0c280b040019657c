import { correlations, type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import type { Bounded } from '../bounded.js'
import { defaultGuard, type Guard, guarded } from '../redact.js'
import { head, isBlank, isObject } from '../text.js'

type Payload = Readonly<Record<string, unknown>>

/** The one method whose name says nothing of what is done. */
const toolsCall = 'tools/call'
const maxNameChars = 128

export const isToolCall = ({ method }: Payload): boolean => method === toolsCall

/** The tool of a `tools/call`, else the method; 128 characters of it. */
export const getToolName = (payload: Payload): string => head(nameIn(payload), maxNameChars)

/** The same as it may be shown. It is guarded before it is cut, so that the cut leaves no half of a secret. */
export const guardedToolName = (payload: Payload, guard: Guard): string =>
  head(guarded(nameIn(payload), guard), maxNameChars)

function nameIn({ method, params }: Payload): string {
  const name = method === toolsCall && isObject(params) ? params.name : undefined
  return typeof name === 'string' && !isBlank(name) ? name : String(method)
}

/** The arguments of a `tools/call`, else the parameters; `{}` where there are none. */
export function getParameters({ method, params }: Payload): unknown {
  if (!isObject(params)) return params ?? {}
  if (method === toolsCall) return params.arguments ?? {}
  const { _meta, ...rest } = params
  return rest
}

/** Nobody answers a notification. */
export const isNotification = ({ method }: Payload): boolean =>
  typeof method === 'string' && method.startsWith('notifications/')

/** Which request a notification takes back, and why; `undefined` = it is another notification. */
export function getCancellation({
  method,
  params,
}: Payload): { requestId: string; reason: unknown } | undefined {
  if (method !== 'notifications/cancelled' || !isObject(params)) return undefined
  const { requestId, reason } = params
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return undefined
  return { requestId: String(requestId), reason }
}

/** The name of a tool, as it may leave the log: without what looks like a secret. */
export const shownToolName = (payload: Envelope['payload']): string => guardedToolName(payload, defaultGuard)

interface Cancellable {
  /** `null` or absent where it has none. */
  readonly jsonRpcId?: string | null | undefined
  readonly isProposal: boolean
}

/**
 * Which of the calls, by their keys, its asker takes back with this notification, and why. It names the request by the id
 * of the envelope, by what it answers, or by the id of JSON-RPC, where it means the latest. `undefined` = none of them.
 */
export function findCancelledCall<Call extends Cancellable>(
  envelope: Envelope,
  calls: Pick<Bounded<Call>, 'get' | 'snapshot'>,
  getAsker: (call: Call) => string,
): { readonly key: string; readonly call: Call; readonly reason: unknown } | undefined {
  const cancellation = getCancellation(envelope.payload)
  if (cancellation === undefined) return undefined
  const { requestId, reason } = cancellation
  const isOwn = (call: Call): boolean => getAsker(call) === envelope.from
  for (const key of [requestId, ...correlations(envelope)]) {
    const call = calls.get(key)
    if (call !== undefined && isOwn(call)) return { key, call, reason }
  }
  const named = calls
    .snapshot()
    .findLast(([, call]) => call.jsonRpcId === requestId && !call.isProposal && isOwn(call))
  return named && { key: named[0], call: named[1], reason }
}

const calls: ReadonlySet<unknown> = new Set([Kind.mcpRequest, Kind.mcpProposal])
/** What is `blocked` is a text, and what is up for `review` has passed: the call went on. */
const refusals: ReadonlySet<unknown> = new Set(['denied', 'limited'])

/** What a `system.decision` is about, as if its participant had sent it; `undefined`: it concerns nobody. */
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

/** Whether a call was refused. */
export const isRefusedCall = ({ decision, attemptedKind }: Partial<DecisionPayload>): boolean =>
  refusals.has(decision) && calls.has(attemptedKind)
