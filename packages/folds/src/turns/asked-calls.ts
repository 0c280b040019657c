import type { Call } from '../space/calls.js'
import type { OpenTurn } from './marks.js'

/** Where a call belongs: in the turns themselves or, in a snapshot, in those with these numbers. */
export interface CallPlace<Turn = OpenTurn> {
  /** The turn in which the step of its answer is made. */
  readonly home: Turn
  /** The turns in which its end ends a call. */
  readonly settles: readonly Turn[]
  /** A request has fulfilled the proposal: its answer is the end. */
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
  /** Of an earlier version: when open proposals expire, in milliseconds since the epoch. */
  readonly deadlines?: readonly (readonly [id: string, expiresAt: number])[]
}

/** Calls that are remembered, of a space as of a single turn, to match answers with them: open ones, and those that are over. */
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
