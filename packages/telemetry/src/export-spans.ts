import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { Attributes, TraceSpan } from './span.js'

/** The operator's log. */
interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface SpanExport {
  /** Never throws, and waits for nothing. What is too much for the queue is lost. */
  add(spans: readonly TraceSpan[]): void
  /** Sends what waits, as far as it is taken in time. Never rejects. */
  close(): Promise<void>
}

/** Milliseconds for a batch, with all tries, where nobody says otherwise: a process that ends does not wait longer. */
const timeoutMs = 3000
const timeouts = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT']
/** The code of a result that is no failure. */
const exported = 0

/**
 * Sends spans by OTLP, as protobuf over HTTP, in batches. Where to, with which headers and how many at once is said by the
 * `OTEL_*` variables of this process, as for every exporter. Failures are logged once, until an export succeeds.
 */
export function exportSpans(log: Log): SpanExport {
  const isSet = timeouts.some((name) => process.env[name])
  const watched = watchExporter(new OTLPTraceExporter(isSet ? {} : { timeoutMillis: timeoutMs }), log)
  const processor = new BatchSpanProcessor(watched.exporter)
  const resource = createResource()
  let added = 0
  return {
    add(spans) {
      added += spans.length
      for (const span of spans) processor.onEnd(readableSpan(span, resource))
    },
    async close() {
      await processor.shutdown().catch(() => {}) // What could not be sent has been watched.
      const lost = added - watched.exported
      if (lost > 0) log.warn({ lost }, 'spans were lost on their way to the collector')
    },
  }
}

/** What sends, and says how it goes. */
function watchExporter(inner: SpanExporter, log: Log) {
  let isFailing = false
  let count = 0
  const exporter: SpanExporter = {
    export: (spans, done) =>
      inner.export(spans, (result) => {
        const hasFailed = result.code !== exported
        if (!hasFailed) count += spans.length
        if (hasFailed && !isFailing)
          log.warn(describeFailure(result.error), 'traces cannot be exported; this is told once')
        else if (!hasFailed && isFailing) log.info({}, 'traces are exported again')
        isFailing = hasFailed
        done(result)
      }),
    shutdown: () => inner.shutdown(),
  }
  return {
    exporter,
    get exported() {
      return count
    },
  }
}

/** Not the whole error: it has all that a collector has answered. */
const describeFailure = (error: (Error & { readonly code?: unknown }) | undefined): object => ({
  reason: error?.message,
  code: error?.code,
})

/** Called `meup`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise. */
const createResource = (): Resource =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'meup' }))
    .merge(detectResources({ detectors: [envDetector] }))

const instrumentationScope = { name: '@meup/telemetry' }

/** A span as exporters want it. */
function readableSpan(span: TraceSpan, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, start, end, error } = span
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED })
  const parentSpanContext = parentSpanId === undefined ? undefined : contextOf(parentSpanId)
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => contextOf(spanId),
    ...(parentSpanContext && { parentSpanContext }),
    startTime: toHrTime(start),
    endTime: toHrTime(end),
    duration: toHrTime(end - start),
    ended: true,
    status: { code: error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: { ...mutable(span.attributes), ...(error !== undefined && { 'error.type': error }) },
    events: span.events.map((event) => ({
      name: event.name,
      time: toHrTime(event.time),
      attributes: mutable(event.attributes),
    })),
    links: [],
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: span.droppedEvents,
    droppedLinksCount: 0,
  }
}

/** Seconds and nanoseconds. */
const toHrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

/** The lists of OpenTelemetry are not read-only. */
const mutable = (attributes: Attributes) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  )
