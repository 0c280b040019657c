import {
  type Call,
  type CallChange,
  Calls,
  type IsGone,
  isToolCall,
  RecentCalls,
  type SpanContext,
  shownToolName,
  type Traces,
} from '@meup/folds'
import {
  type DecisionPayload,
  type Envelope,
  Kind,
  omitUndefined,
  type PresencePayload,
} from '@meup/protocol'
import { type Attributes, createAttributes, type SpanScope, type TraceSpan } from './span.js'

/**
 * Memory of a call whose span is finished, in characters. Such calls are kept, because later envelopes may still refer to them.
 */
const endedWeight = 1000

/** Makes a span of each tool call: from its proposal or request to its outcome. */
export class CallSpans {
  readonly #scope: SpanScope
  readonly #traces: Traces
  /** The calls by id, with the data for their spans; `null` = the span is finished. */
  readonly #calls = new Calls<OpenCall | null>({
    reduce: (change, envelope) => this.#reduce(change, envelope),
    store: new RecentCalls({ open: 16e6, over: 10e6, weigh: ({ data }) => data?.weight ?? endedWeight }),
  })
  readonly #absences = new Absences()
  #spans: TraceSpan[] = []

  constructor(scope: SpanScope, traces: Traces) {
    this.#scope = scope
    this.#traces = traces
  }

  /** The spans of the calls that this envelope ends. */
  apply(envelope: Envelope): TraceSpan[] {
    const { kind, ts, payload } = envelope
    this.#spans = []
    const abandoned = this.#absences.due(Date.parse(ts), this.#open())
    for (const { call, since } of abandoned) {
      this.#calls.setData(call.approval ?? call.id, null)
      this.#spans.push(endCall(call, since, 'abandoned'))
    }
    this.#calls.apply(envelope)
    if (kind === Kind.systemPresence) this.#absences.onPresence(envelope, this.#open())
    const refused =
      kind === Kind.systemDecision
        ? createRefusalSpan(envelope, payload as DecisionPayload, this.#scope, this.#traces)
        : []
    return [...this.#spans, ...refused]
  }

  /** Ends proposals whose proposers are no longer members, and returns their spans. */
  closeBy(isGone: IsGone, envelope: Envelope): TraceSpan[] {
    this.#spans = []
    this.#calls.closeBy(isGone, envelope)
    return this.#spans
  }

  /** Updates the data of a call. The first rejection ends the call; a later approval starts another one. */
  #reduce(change: CallChange<OpenCall | null>, envelope: Envelope): OpenCall | null | undefined {
    const { call } = change
    if (change.what === 'asked') return this.#begin(call, envelope)
    const open = call.data
    if (open === null) return null
    const now = Date.parse(envelope.ts)
    switch (change.what) {
      case 'answered':
        return this.#end(open, now, getErrorType(envelope.payload))
      case 'expired':
        return this.#end(open, call.expiresAt ?? now, 'expired')
      case 'cancelled':
      case 'rejected':
      case 'withdrawn':
        return this.#end(open, now, change.what)
    }
    return open
  }

  /** Starts the data of a call. The first request that fulfils a proposal continues the call of the proposal. */
  #begin(call: Call<unknown>, envelope: Envelope): OpenCall | undefined {
    const { payload } = envelope
    if (!isToolCall(payload)) return undefined
    const { id: approval, kind, from: asker } = call
    const proposals = kind === 'call' ? call.about.flatMap((id) => this.#calls.get(id) ?? []) : []
    const [proposed] = proposals.filter((each) => each.kind === 'proposal')
    if (proposed?.data == null) return openCall(envelope, this.#scope, this.#traces)
    this.#calls.setData(proposed.id, null)
    return { ...proposed.data, asker, approval, isProposal: false }
  }

  #end(call: OpenCall, at: number, error: string | undefined): null {
    this.#spans.push(endCall(call, at, error))
    return null
  }

  *#open(): Generator<OpenCall> {
    for (const { data } of this.#calls.all()) if (data !== null) yield data
  }
}

/** A tool call without an outcome. */
interface OpenCall {
  /** The id of the request or proposal that began the call. */
  readonly id: string
  /** The id of the request that fulfils the proposal. */
  readonly approval?: string
  readonly isProposal: boolean
  /** The sender of the request; before that, the proposer. */
  readonly asker: string
  readonly to: readonly string[]
  readonly span: Pick<TraceSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'start'>
  readonly attributes: Attributes
  /** Approximate size in memory, in characters. */
  readonly weight: number
}

/** `envelope`: a request or a proposal for a tool. */
function openCall(envelope: Envelope, scope: SpanScope, traces: Traces): OpenCall {
  const { id, kind, from, to = [], context, seq, rationale, parallelGroup, payload } = envelope
  const { span, parent } = traces.getCallSpan(envelope)
  const tool = shownToolName(payload)
  return {
    id,
    isProposal: kind === Kind.mcpProposal,
    asker: from,
    to,
    span: beginSpan(span, context === undefined ? parent : scope.findSpan(context), tool, envelope),
    attributes: createAttributes({
      ...commonAttributes(tool, scope.attributes(from, context)),
      'meup.seq': seq,
      'meup.to': to.length === 0 ? undefined : to,
      'meup.rationale': rationale,
      'meup.parallel_group': parallelGroup,
    }),
    weight: 1000 + (rationale?.length ?? 0),
  }
}

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
    ...omitUndefined({ error }),
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

/** The span of a refused call; undefined if the decision is not about a call. */
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
  const { span } = traces.getCallSpan({ ...envelope, ...omitUndefined({ context }) })
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

/** Milliseconds that a participant may be absent before its calls count as abandoned; runs have the same default. */
const maxAbsenceMs = 60_000

/**
 * Participants that have left, and were the asker or the only target of an open call. Most reconnect, so calls end after a
 * delay.
 */
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

  /** The calls that are abandoned by `now`, and since when. */
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

/** Whether a call depends on a participant. The target of a proposal is not needed before the approval. */
const involves = ({ asker, to, isProposal }: OpenCall, id: string): boolean =>
  asker === id || (!isProposal && to.length === 1 && to[0] === id)
