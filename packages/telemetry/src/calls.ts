import {
  Bounded,
  createProposalFold,
  findCancelledCall,
  isNotification,
  isToolCall,
  type ProposalView,
  type Traces,
} from '@meup/folds'
import { correlations, type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import { Absences } from './absences.js'
import { endCall, errorOf, jsonRpcIdOf, type OpenCall, openCall, spanOfRefusal } from './call.js'
import type { Places } from './places.js'
import type { TraceSpan } from './span.js'

/** Nothing that a proposal says is told. */
const unread = () => ({ text: '', isWithheld: true })

/** Tool calls: each is a span from the request, or from the proposal that became it, to what came of it. */
export class Calls {
  readonly #places: Places
  readonly #traces: Traces
  /** By the id of the request; by that of the proposal while nobody has fulfilled it. */
  readonly #open = new Bounded<OpenCall>(16e6, ({ weight }) => weight)
  readonly #proposals = createProposalFold(unread)
  readonly #absences = new Absences()

  constructor(places: Places, traces: Traces) {
    this.#places = places
    this.#traces = traces
  }

  /** The calls that have ended with this envelope. */
  apply(envelope: Envelope): TraceSpan[] {
    const now = Date.parse(envelope.ts)
    const abandoned = this.#abandon(now)
    const decided = this.#proposals.apply(envelope).flatMap((each) => this.#decide(each, envelope))
    return [...abandoned, ...decided, ...this.#take(envelope, now)]
  }

  #take(envelope: Envelope, now: number): TraceSpan[] {
    const { kind, payload } = envelope
    if (kind === Kind.mcpRequest && isNotification(payload)) return this.#cancel(envelope, now)
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#begin(envelope)
    else if (kind === Kind.mcpResponse) {
      return correlations(envelope).flatMap((id) => this.#end(id, now, errorOf(payload)))
    } else if (kind === Kind.systemPresence) this.#absences.take(envelope, this.#open.values())
    else if (kind === Kind.systemDecision) {
      return spanOfRefusal(envelope, payload as DecisionPayload, this.#places, this.#traces)
    }
    return []
  }

  /** A request that fulfils a proposal goes on with its call. */
  #begin(envelope: Envelope): void {
    const { id, payload } = envelope
    if (!isToolCall(payload) || this.#open.get(id) !== undefined) return
    this.#open.set(id, openCall(envelope, this.#places, this.#traces))
  }

  #decide({ id, state, expiresAt, fulfilments }: ProposalView, envelope: Envelope): TraceSpan[] {
    const call = this.#open.get(id)
    if (call === undefined) return []
    if (fulfilments.at(-1)?.id === envelope.id) {
      this.#open.delete(id)
      const { id: approval, from: asker, payload } = envelope
      const jsonRpcId = jsonRpcIdOf(payload)
      this.#open.set(approval, { ...call, asker, approval, jsonRpcId, isProposal: false })
      return []
    }
    if (state === 'open' || state === 'fulfilled') return []
    const at = Date.parse((state === 'expired' && expiresAt) || envelope.ts)
    return this.#end(id, at, state)
  }

  #cancel(envelope: Envelope, now: number): TraceSpan[] {
    const named = findCancelledCall(envelope, this.#open, ({ asker }) => asker)
    return named === undefined ? [] : this.#end(named.key, now, 'cancelled')
  }

  #abandon(now: number): TraceSpan[] {
    const abandoned = this.#absences.due(now, this.#open.values())
    return abandoned.flatMap(({ call, since }) => this.#end(call.approval ?? call.id, since, 'abandoned'))
  }

  #end(id: string, at: number, error: string | undefined): TraceSpan[] {
    const call = this.#open.get(id)
    if (call === undefined) return []
    this.#open.delete(id)
    return [endCall(call, at, error)]
  }
}
