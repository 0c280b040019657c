import type { Call } from '../space/calls.js'
import type { OpenTurn } from './marks.js'

/** The turns of a call: objects or, in a snapshot, their numbers. */
export interface CallPlace<Turn = OpenTurn> {
  /** The turn that gets the step of its answer. */
  readonly home: Turn
  /** The turns in which its end ends a call. */
  readonly settles: readonly Turn[]
  /** A request has fulfilled the proposal, and its answer is the end. */
  readonly isFulfilled?: true
}

/** A call of a snapshot of an earlier version. */
interface EarlierCall extends CallPlace<number> {
  readonly id: string
  readonly from: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
}

export interface AskedCallsSnapshot {
  readonly calls: readonly (Call<CallPlace<number>> | EarlierCall)[]
  /** In earlier versions: expiry of open proposals, in milliseconds since the epoch. */
  readonly deadlines?: readonly (readonly [id: string, expiresAt: number])[]
}

/** Remembered calls, of a space or a single turn: open and ended ones. */
export const maxCalls = { open: 20_000, over: 20_000 }

export const movePlace = <From, To>(
  { home, settles, ...place }: CallPlace<From>,
  toTurn: (turn: From) => To,
): CallPlace<To> => ({ ...place, home: toTurn(home), settles: settles.map(toTurn) })

/** The calls of a snapshot. */
export function restoreCalls({ calls, deadlines = [] }: AskedCallsSnapshot): Call<CallPlace<number>>[] {
  const expiries = new Map(deadlines)
  return calls.map((call) => {
    if ('data' in call) return call
    const { id, from, isProposal, jsonRpcId, ...data } = call
    const expiresAt = expiries.get(id)
    return {
      ...{ id, from, data, seq: 0, kind: isProposal ? 'proposal' : 'call', state: 'open', usesLeft: 1 },
      ...{ about: [], answeredBy: [], rejectedBy: [], programEnded: false },
      ...(jsonRpcId !== null && { jsonRpcId }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
  })
}
