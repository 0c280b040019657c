import {
  Bounded,
  createProposalFold,
  findCancelledCall,
  isNotification,
  isToolCall,
  type ProposalView,
  type SpanContext,
  shownToolName,
  type Traces,
} from '@meup/folds'
import { correlations, type DecisionPayload, type Envelope, Kind, type PresencePayload } from '@meup/protocol'
import { type Attributes, createAttributes, type SpanScope, type TraceSpan } from './span.js'

/** The texts of proposals are not needed: spans leave them out. */
const unread = () => ({ text: '', isWithheld: true })

/** Makes a span of each tool call: from its proposal, or else its request, to its outcome. */
export class Calls {
  readonly #scope: SpanScope
  readonly #traces: Traces
  /** By the id of the request, or of the proposal until a request fulfils it. */
  readonly #open = new Bounded<OpenCall>(16e6, ({ weight }) => weight)
  readonly #proposals = createProposalFold(unread)
  readonly #absences = new Absences()

  constructor(scope: SpanScope, traces: Traces) {
    this.#scope = scope
    this.#traces = traces
  }

  /** The spans of the calls that this envelope ends. */
  apply(envelope: Envelope): TraceSpan[] {
    const now = Date.parse(envelope.ts)
    const abandoned = this.#abandon(now)
    const decided = this.#proposals.apply(envelope).flatMap((each) => this.#decide(each, envelope))
    return [...abandoned, ...decided, ...this.#onEnvelope(envelope, now)]
  }

  #onEnvelope(envelope: Envelope, now: number): TraceSpan[] {
    const { kind, payload } = envelope
    if (kind === Kind.mcpRequest && isNotification(payload)) return this.#cancel(envelope, now)
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#begin(envelope)
    else if (kind === Kind.mcpResponse) {
      return correlations(envelope).flatMap((id) => this.#end(id, now, getErrorType(payload)))
    } else if (kind === Kind.systemPresence) this.#absences.onPresence(envelope, this.#open.values())
    else if (kind === Kind.systemDecision) {
      return createRefusalSpan(envelope, payload as DecisionPayload, this.#scope, this.#traces)
    }
    return []
  }

  /** A request that fulfils a proposal continues that call; `#decide` handles it. */
  #begin(envelope: Envelope): void {
    const { id, payload } = envelope
    if (!isToolCall(payload) || this.#open.get(id) !== undefined) return
    this.#open.set(id, openCall(envelope, this.#scope, this.#traces))
  }

  /** The first rejection ends a call, though others may still approve: that is another call then. */
  #decide({ id, state, expiresAt, fulfilments }: ProposalView, envelope: Envelope): TraceSpan[] {
    const call = this.#open.get(id)
    if (call === undefined) return []
    if (fulfilments.at(-1)?.id === envelope.id) {
      this.#open.delete(id)
      const { id: approval, from: asker, payload } = envelope
      const jsonRpcId = getJsonRpcId(payload)
      this.#open.set(approval, { ...call, asker, approval, jsonRpcId, isProposal: false })
      return []
    }
    const ending = envelope.kind === Kind.mcpReject ? 'rejected' : state
    if (ending === 'open' || ending === 'fulfilled') return []
    const at = Date.parse((ending === 'expired' && expiresAt) || envelope.ts)
    return this.#end(id, at, ending)
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

/** A tool call without an outcome. */
interface OpenCall {
  /** Of the request or the proposal that it began with. */
  readonly id: string
  /** The request that fulfils the proposal. */
  readonly approval?: string
  readonly isProposal: boolean
  /** The sender of the request; before there is one, the proposer. */
  readonly asker: string
  readonly to: readonly string[]
  readonly jsonRpcId: string | undefined
  readonly span: Pick<TraceSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'start'>
  readonly attributes: Attributes
  /** Approximate size in memory, in characters. */
  readonly weight: number
}

/** `envelope`: a request or a proposal to call a tool. */
function openCall(envelope: Envelope, scope: SpanScope, traces: Traces): OpenCall {
  const { id, kind, from, to = [], context, seq, rationale, parallelGroup, payload } = envelope
  const { span, parent } = traces.getCallSpan(envelope)
  const tool = shownToolName(payload)
  const jsonRpcId = getJsonRpcId(payload)
  return {
    id,
    isProposal: kind === Kind.mcpProposal,
    asker: from,
    to,
    jsonRpcId,
    span: beginSpan(span, context === undefined ? parent : scope.findSpan(context), tool, envelope),
    attributes: createAttributes({
      ...commonAttributes(tool, scope.attributes(from, context)),
      'meup.seq': seq,
      'meup.to': to.length === 0 ? undefined : to,
      'meup.rationale': rationale,
      'meup.parallel_group': parallelGroup,
    }),
    weight: 1000 + (rationale?.length ?? 0) + (jsonRpcId?.length ?? 0),
  }
}

const getJsonRpcId = ({ id }: Envelope['payload']): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? String(id) : undefined

function endCall(call: OpenCall, at: number, error: string | undefined): TraceSpan {
  const { id, approval, asker, span, attributes } = call
  return {
    ...span,
    end: Math.max(at, span.start),
    attributes: {
      ...attributes,
      'gen_ai.tool.call.id': approval ?? id,
      ...(approval !== undefined && { 'meup.proposal': id, 'meup.approved_by': asker }),
      ...(call.isProposal && { 'meup.proposal': id }),
    },
    events: [],
    droppedEvents: 0,
    ...(error !== undefined && { error }),
  }
}

/** The code of a JSON-RPC error, or `tool_error`, by the OpenTelemetry conventions for MCP. */
function getErrorType({ result, error }: Envelope['payload']): string | undefined {
  if (error !== undefined && error !== null) {
    const { code } = error as { readonly code?: unknown }
    return Number.isInteger(code) ? String(code) : '_OTHER'
  }
  return (result as { readonly isError?: unknown } | null | undefined)?.isError === true
    ? 'tool_error'
    : undefined
}

const callKinds: ReadonlySet<unknown> = new Set([Kind.mcpRequest, Kind.mcpProposal])

/** The span of a call that the gateway refused; none where the decision is not about a call. */
function createRefusalSpan(
  envelope: Envelope,
  decision: DecisionPayload,
  scope: SpanScope,
  traces: Traces,
): TraceSpan[] {
  const { attemptedKind, attemptedTool: tool, attemptedId, context, reasonCode, count } = decision
  const [agent] = envelope.to ?? []
  const isCall = callKinds.has(attemptedKind) && tool !== undefined && agent !== undefined
  if (!isCall || decision.decision === 'review') return []
  const { span } = traces.getCallSpan({ ...envelope, ...(context !== undefined && { context }) })
  return [
    {
      ...beginSpan(span, scope.findSpan(context), tool, envelope),
      end: Date.parse(envelope.ts),
      attributes: createAttributes({
        ...commonAttributes(tool, scope.attributes(agent, context)),
        'gen_ai.tool.call.id': attemptedId,
        'meup.seq': envelope.seq,
        'meup.count': count,
      }),
      events: [],
      droppedEvents: 0,
      error: reasonCode,
    },
  ]
}

const beginSpan = (
  span: SpanContext,
  parent: SpanContext | undefined,
  tool: string,
  { ts }: Envelope,
): OpenCall['span'] => ({
  ...span,
  ...(parent && { parentSpanId: parent.spanId }),
  name: `execute_tool ${tool}`,
  start: Date.parse(ts),
})

const commonAttributes = (tool: string, place: Attributes): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': tool,
  ...place,
  'mcp.method.name': 'tools/call',
})

/** Milliseconds that a participant may be away before its calls count as abandoned; the default for runs is the same. */
const maxAbsenceMs = 60_000

/** Participants that left while they were the asker or the only target of a call. Most reconnect, so calls end after a delay. */
class Absences {
  readonly #since = new Map<string, number>()

  /** `envelope`: a `system.presence`. */
  onPresence({ ts, payload }: Envelope, open: Iterable<OpenCall>): void {
    const { event, participant } = payload as PresencePayload
    const { id } = participant
    if (event === 'join') this.#since.delete(id)
    else if (event === 'leave' && [...open].some((call) => involves(call, id)))
      this.#since.set(id, Date.parse(ts))
  }

  /** The calls that are abandoned by now, and since when. */
  due(now: number, open: Iterable<OpenCall>): { readonly call: OpenCall; readonly since: number }[] {
    const gone = [...this.#since].filter(([, since]) => now - since >= maxAbsenceMs)
    if (gone.length === 0) return []
    const calls = [...open]
    return gone.flatMap(([id, since]) => {
      this.#since.delete(id)
      return calls
        .filter((call) => involves(call, id) && call.span.start <= since)
        .map((call) => ({ call, since }))
    })
  }
}

/** The target of a proposal is not needed before somebody has approved it. */
const involves = ({ asker, to, isProposal }: OpenCall, id: string): boolean =>
  asker === id || (!isProposal && to.length === 1 && to[0] === id)
