import type { Call } from '../space/calls.js'
import type { OpenTurn } from './marks.js'

/** The turns that a call belongs to: objects or, in a snapshot, their numbers. */
export interface CallPlace<Turn = OpenTurn> {
  /** The turn in which the answer to the call is a step. */
  readonly home: Turn
  /** The turns that list the call as a tool call: its end gives them the outcome. */
  readonly settles: readonly Turn[]
  /** `true` if a request has fulfilled the proposal, so that the answer to the request ends the proposal. */
  readonly isFulfilled?: true
}

/** A call in the snapshot of an earlier version. */
interface EarlierCall extends CallPlace<number> {
  readonly id: string
  readonly from: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
}

export interface AskedCallsSnapshot {
  readonly calls: readonly (Call<CallPlace<number>> | EarlierCall)[]
  /** Only in snapshots of earlier versions: expiry of open proposals, in milliseconds since the epoch. */
  readonly deadlines?: readonly (readonly [id: string, expiresAt: number])[]
}

/** Maximum number of remembered calls of a space or a single turn: open ones, and ended ones (`over`). */
export const maxCalls = { open: 20_000, over: 20_000 }

export const movePlace = <From, To>(
  { home, settles, ...place }: CallPlace<From>,
  toTurn: (turn: From) => To,
): CallPlace<To> => ({ ...place, home: toTurn(home), settles: settles.map(toTurn) })

/** Reads the calls of a snapshot, including the formats of earlier versions. */
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
