import { correlations, type Envelope } from '@meup/protocol'
import type { Bounded } from '../bounded.js'
import { cancellationOf } from './call.js'

interface Cancellable {
  /** `null` or absent where it has none. */
  readonly jsonRpcId?: string | null | undefined
  readonly isProposal: boolean
}

/**
 * Which of the calls, by their keys, its asker takes back with this notification, and why. It names the request by the id
 * of the envelope, by what it answers, or by the id of JSON-RPC, where it means the latest. `undefined` = none of them.
 */
export function takenBack<Call extends Cancellable>(
  envelope: Envelope,
  calls: Pick<Bounded<Call>, 'get' | 'snapshot'>,
  askerOf: (call: Call) => string,
): { readonly key: string; readonly call: Call; readonly reason: unknown } | undefined {
  const cancellation = cancellationOf(envelope.payload)
  if (cancellation === undefined) return undefined
  const { requestId, reason } = cancellation
  const isOwn = (call: Call): boolean => askerOf(call) === envelope.from
  for (const key of [requestId, ...correlations(envelope)]) {
    const call = calls.get(key)
    if (call !== undefined && isOwn(call)) return { key, call, reason }
  }
  const named = calls
    .snapshot()
    .findLast(([, call]) => call.jsonRpcId === requestId && !call.isProposal && isOwn(call))
  return named && { key: named[0], call: named[1], reason }
}
