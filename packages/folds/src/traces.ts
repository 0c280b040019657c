import { contextRoot, correlations, type Envelope, Kind } from '@meup/protocol'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { Bounded } from './bounded.js'
import { isNotification, isToolCall } from './mcp/calls.js'
import { isObject } from './text.js'

/** The fields of a request or a proposal that determine its span. */
export type Request = Pick<Envelope, 'id' | 'context' | 'correlationId' | 'payload'>

/** A request. Runs of its addressees about the request become part of `span`. */
interface Cause {
  readonly span: SpanContext
  readonly from: string
  readonly to: readonly string[] | undefined
}

/**
 * Finds the trace and span of runs and calls. A run begins a trace, unless it is about a request: then it belongs to the span
 * in the request's `_meta.traceparent` or, if there is none, to the request's own span. Gateway and clients derive the same ids
 * from the same log.
 */
export class Traces {
  readonly #epoch: () => string
  /** Parent spans of runs, by their ids. */
  readonly #origins = new Bounded<SpanContext>(10_000)
  readonly #requests = new Bounded<Cause>(20_000)
  readonly #proposals = new Bounded<SpanContext>(10_000)

  /** `epoch`: returns the current epoch of the log. */
  constructor(epoch: () => string) {
    this.#epoch = epoch
  }

  /** Applies the next envelope of the log. */
  apply(envelope: Envelope): void {
    const { id, kind, context, from, to, payload } = envelope
    if (kind === Kind.reasoningStart && context === undefined) this.#begin(envelope)
    else if (kind === Kind.mcpProposal && isToolCall(payload)) {
      this.#proposals.set(id, this.#ownSpan(envelope))
    } else if (kind === Kind.mcpRequest && !isNotification(payload)) {
      const span = this.getCarriedSpan(envelope)
      if (span !== undefined) this.#requests.set(id, { span, from, to })
    }
  }

  /** The parent span of a run; `undefined` = the run begins a trace. */
  getParentSpan(run: string): SpanContext | undefined {
    return this.#origins.get(run)
  }

  /** The span of an opened context. */
  getContextSpan(context: string): SpanContext {
    const root = contextRoot(context)
    const traceId = this.getParentSpan(root)?.traceId ?? getTraceId(this.#epoch(), root)
    return { traceId, spanId: getSpanId(this.#epoch(), context.slice(context.lastIndexOf('/') + 1)) }
  }

  /** The span of a call, and its parent if the call is in no context. */
  getCallSpan(call: Request): { readonly span: SpanContext; readonly parent: SpanContext | undefined } {
    const span = this.#ownSpan(call)
    const carried = call.context === undefined ? readTraceparent(call.payload) : undefined
    return { span, parent: carried?.spanId === span.spanId ? undefined : carried }
  }

  /** The parent span of work on a request; `undefined` for a request that is not a tool call and not in a run. */
  getCarriedSpan(request: Request): SpanContext | undefined {
    const { context, payload } = request
    const [proposed] = correlations(request).flatMap((id) => this.#proposals.get(id) ?? [])
    const known = readTraceparent(payload) ?? proposed
    if (known !== undefined || isToolCall(payload)) return known ?? this.#ownSpan(request)
    return context === undefined ? undefined : this.getContextSpan(context)
  }

  #ownSpan({ id, context, payload }: Request): SpanContext {
    const around = context === undefined ? readTraceparent(payload) : this.getContextSpan(context)
    return { traceId: around?.traceId ?? getTraceId(this.#epoch(), id), spanId: getSpanId(this.#epoch(), id) }
  }

  /** Records the parent span of a run about a request. Only runs of its addressees belong to a request. */
  #begin(start: Envelope): void {
    const causes = correlations(start).flatMap((id) => this.#requests.get(id) ?? [])
    const cause = causes.find(
      ({ from, to }) => from !== start.from && (to === undefined || to.includes(start.from)),
    )
    if (cause !== undefined) this.#origins.set(start.id, cause.span)
  }
}

function readTraceparent({ params }: Envelope['payload']): SpanContext | undefined {
  const meta = isObject(params) ? params._meta : undefined
  return isObject(meta) ? parseTraceparent(meta.traceparent) : undefined
}

/** A trace id of 32, and a span id of 16 lower-case hexadecimal digits. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
}

/**
 * Derives an id from the epoch of the log and the id of an envelope, so that every tracer of a log uses the same id, and a span
 * sent twice is stored once. Uses SHA-256, because clients in other languages have it as well.
 */
const digestId = (epoch: string, id: string): string => bytesToHex(sha256(utf8ToBytes(`${epoch} ${id}`)))

/** Id of the trace that begins with this envelope: 32 hexadecimal digits. */
export const getTraceId = (epoch: string, id: string): string => digestId(epoch, id).slice(0, 32)

/** Id of the span that begins with this envelope: 16 hexadecimal digits. */
export const getSpanId = (epoch: string, id: string): string => digestId(epoch, id).slice(32, 48)

/** A sampled `traceparent` of W3C Trace Context. */
export const formatTraceparent = ({ traceId, spanId }: SpanContext): string => `00-${traceId}-${spanId}-01`

const traceparent = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|-)/

/** Parses a `traceparent`; `undefined` if it is invalid. */
export function parseTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId, spanId] = (typeof text === 'string' && traceparent.exec(text)) || []
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId }
}

/** Reads the endpoint for traces from OpenTelemetry's environment variables; `undefined` = none. */
export function traceEndpoint(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { OTEL_SDK_DISABLED: disabled = '', OTEL_TRACES_EXPORTER: exporters = '' } = env
  const isOff = disabled.trim().toLowerCase() === 'true' || exporters.trim() === 'none'
  if (isOff) return undefined
  return env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined
}
