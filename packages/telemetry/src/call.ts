import { type SpanContext, shownToolName, type Traces } from '@meup/folds'
import { type DecisionPayload, type Envelope, Kind } from '@meup/protocol'
import type { Places } from './places.js'
import { type Attributes, attributesOf, type TraceSpan } from './span.js'

/** A tool call that nothing has come of yet. */
export interface OpenCall {
  /** Of the request or the proposal that it began with. */
  readonly id: string
  /** The request that fulfils the proposal. */
  readonly approval?: string
  readonly isProposal: boolean
  /** Who made the request; as long as there is none, the proposer. */
  readonly asker: string
  readonly to: readonly string[]
  readonly jsonRpcId: string | undefined
  readonly span: Pick<TraceSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'start'>
  readonly attributes: Attributes
  /** About how many characters it takes in memory. */
  readonly weight: number
}

/** `envelope` = a request or a proposal of a tool. */
export function openCall(envelope: Envelope, places: Places, traces: Traces): OpenCall {
  const { id, kind, from, to = [], context, seq, rationale, parallelGroup, payload } = envelope
  const { span, parent } = traces.ofCall(envelope)
  const tool = shownToolName(payload)
  const jsonRpcId = jsonRpcIdOf(payload)
  return {
    id,
    isProposal: kind === Kind.mcpProposal,
    asker: from,
    to,
    jsonRpcId,
    span: begin(span, context === undefined ? parent : places.spanAt(context), tool, envelope),
    attributes: attributesOf({
      ...common(tool, places.attributes(from, context)),
      'meup.seq': seq,
      'meup.to': to.length === 0 ? undefined : to,
      'meup.rationale': rationale,
      'meup.parallel_group': parallelGroup,
    }),
    weight: 1000 + (rationale?.length ?? 0) + (jsonRpcId?.length ?? 0),
  }
}

export const jsonRpcIdOf = ({ id }: Envelope['payload']): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? String(id) : undefined

export function endCall(call: OpenCall, at: number, error: string | undefined): TraceSpan {
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

/** A JSON-RPC error by its code, and a tool that says it failed, as the conventions for MCP name them. */
export function errorOf({ result, error }: Envelope['payload']): string | undefined {
  if (error !== undefined && error !== null) {
    const { code } = error as { readonly code?: unknown }
    return Number.isInteger(code) ? String(code) : '_OTHER'
  }
  return (result as { readonly isError?: unknown } | null | undefined)?.isError === true
    ? 'tool_error'
    : undefined
}

const calls: ReadonlySet<unknown> = new Set([Kind.mcpRequest, Kind.mcpProposal])

/** A call that the gateway did not let through, if the decision was about one. */
export function spanOfRefusal(
  envelope: Envelope,
  decision: DecisionPayload,
  places: Places,
  traces: Traces,
): TraceSpan[] {
  const { attemptedKind, attemptedTool: tool, attemptedId, context, reasonCode, count } = decision
  const [agent] = envelope.to ?? []
  const isCall = calls.has(attemptedKind) && tool !== undefined && agent !== undefined
  if (!isCall || decision.decision === 'review') return []
  const { span } = traces.ofCall({ ...envelope, ...(context !== undefined && { context }) })
  return [
    {
      ...begin(span, places.spanAt(context), tool, envelope),
      end: Date.parse(envelope.ts),
      attributes: attributesOf({
        ...common(tool, places.attributes(agent, context)),
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

const begin = (
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

const common = (tool: string, place: Attributes): Attributes => ({
  'gen_ai.operation.name': 'execute_tool',
  'gen_ai.tool.name': tool,
  ...place,
  'mcp.method.name': 'tools/call',
})
