import { correlations, type Envelope } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { Deadlines, type DeadlinesSnapshot } from '../deadlines.js'
import { getCancellation } from '../mcp/calls.js'
import type { OpenTurn } from './marks.js'

/** A request or a proposal. */
export interface AskedCall {
  readonly id: string
  readonly from: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
  /** The turn in which the step of its answer is made. */
  readonly home: OpenTurn
  /** The turns in which its answer ends a call. */
  readonly settles: readonly OpenTurn[]
}

type Stored = Omit<AskedCall, 'home' | 'settles'> & { home: number; settles: readonly number[] }

/** Turns by their numbers. */
export interface AskedCallsSnapshot {
  readonly calls: readonly Stored[]
  readonly deadlines: DeadlinesSnapshot
}

/** Calls that are remembered, of a space as of a single turn, to match answers with them. */
export const maxCalls = 20_000

/** The latest calls of a space, by which answers are matched. */
export class AskedCalls {
  readonly #calls = new Bounded<AskedCall>(maxCalls)
  /** Ids of the latest calls by asker and JSON-RPC id. */
  readonly #byJsonRpcId = new Bounded<string>(maxCalls)
  readonly #deadlines = new Deadlines()

  add(envelope: Envelope, call: Pick<AskedCall, 'home' | 'settles' | 'isProposal'>): void {
    const { id, from, payload } = envelope
    const jsonRpcId = payload.id === undefined || payload.id === null ? null : String(payload.id)
    this.#keep({ id, from, jsonRpcId, ...call })
    if (call.isProposal) this.#deadlines.set(id, payload.expiresAt)
  }

  /** The calls that this envelope answers. */
  answered(envelope: Envelope): AskedCall[] {
    return correlations(envelope).flatMap((id) => this.#calls.get(id) ?? [])
  }

  /** Whether this asks who has made a call, and nobody else, about that call. */
  asksCaller(envelope: Envelope): boolean {
    const [only, ...others] = envelope.to ?? []
    const calls = this.answered(envelope).filter(({ isProposal }) => !isProposal)
    return others.length === 0 && calls.some(({ from }) => from === only)
  }

  /** The proposals that this request fulfils; they do not expire any more. */
  fulfilled(request: Envelope): AskedCall[] {
    const proposals = this.answered(request).filter(({ isProposal }) => isProposal)
    for (const { id } of proposals) this.#deadlines.delete(id)
    return proposals
  }

  /** The call that its asker cancels with this notification. */
  findCancelledCall(notification: Envelope): AskedCall | undefined {
    const cancellation = getCancellation(notification.payload)
    if (cancellation === undefined) return undefined
    const { from } = notification
    const { requestId } = cancellation
    const named = [requestId, ...correlations(notification)].find((id) => this.#calls.get(id)?.from === from)
    return this.#calls.get(named ?? this.#byJsonRpcId.get(toKey(from, requestId)) ?? '')
  }

  /** Removes the deadlines that have passed by `time` (RFC 3339) and returns their proposals. */
  expired(time: string): AskedCall[] {
    if (this.#deadlines.isEmpty) return []
    return this.#deadlines.due(Date.parse(time)).flatMap((id) => this.#calls.get(id) ?? [])
  }

  /** Forgets what only the body of a call tells. */
  erase(id: string): void {
    const call = this.#calls.get(id)
    if (call === undefined || call.jsonRpcId === null) return
    const key = toKey(call.from, call.jsonRpcId)
    if (this.#byJsonRpcId.get(key) === id) this.#byJsonRpcId.delete(key)
    this.#calls.set(id, { ...call, jsonRpcId: null })
  }

  snapshot(getNumber: (turn: OpenTurn) => number): AskedCallsSnapshot {
    const calls = [...this.#calls.values()].map((call) => ({
      ...call,
      home: getNumber(call.home),
      settles: call.settles.map(getNumber),
    }))
    return { calls, deadlines: this.#deadlines.snapshot() }
  }

  restore({ calls, deadlines }: AskedCallsSnapshot, turnAt: (number: number) => OpenTurn): void {
    for (const call of calls)
      this.#keep({ ...call, home: turnAt(call.home), settles: call.settles.map(turnAt) })
    this.#deadlines.restore(deadlines)
  }

  #keep(call: AskedCall): void {
    this.#calls.set(call.id, call)
    if (call.jsonRpcId !== null && !call.isProposal)
      this.#byJsonRpcId.renew(toKey(call.from, call.jsonRpcId), call.id)
  }
}

const toKey = (asker: string, jsonRpcId: string): string => `${asker} ${jsonRpcId}`
