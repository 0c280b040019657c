import { head, isBlank, isObject } from '../text.js'
import { type Guard, guarded } from './redact.js'

type Payload = Readonly<Record<string, unknown>>

/** The one method whose name says nothing of what is done. */
const toolsCall = 'tools/call'
const longestName = 128

export const isToolCall = ({ method }: Payload): boolean => method === toolsCall

/** The tool of a `tools/call`, else the method; 128 characters of it. */
export const toolNameOf = (payload: Payload): string => head(nameIn(payload), longestName)

/** The same as it may be shown. It is guarded before it is cut, so that the cut leaves no half of a secret. */
export const guardedToolName = (payload: Payload, guard: Guard): string =>
  head(guarded(nameIn(payload), guard), longestName)

function nameIn({ method, params }: Payload): string {
  const name = method === toolsCall && isObject(params) ? params.name : undefined
  return typeof name === 'string' && !isBlank(name) ? name : String(method)
}

/** The arguments of a `tools/call`, else the parameters; `{}` where there are none. */
export function parametersOf({ method, params }: Payload): unknown {
  if (!isObject(params)) return params ?? {}
  if (method === toolsCall) return params.arguments ?? {}
  const { _meta, ...rest } = params
  return rest
}

/** Nobody answers a notification. */
export const isNotification = ({ method }: Payload): boolean =>
  typeof method === 'string' && method.startsWith('notifications/')

/** Which request a notification takes back, and why; `undefined` = it is another notification. */
export function cancellationOf({
  method,
  params,
}: Payload): { requestId: string; reason: unknown } | undefined {
  if (method !== 'notifications/cancelled' || !isObject(params)) return undefined
  const { requestId, reason } = params
  if (typeof requestId !== 'string' && typeof requestId !== 'number') return undefined
  return { requestId: String(requestId), reason }
}
