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

/** The log of the process that exports, such as the gateway: its methods for two levels. */
interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface SpanExport {
  /** Queues spans; never throws or waits. Drops spans beyond the size of the queue. */
  add(spans: readonly TraceSpan[]): void
  /** Sends the queued spans within the export timeout. Never rejects. */
  close(): Promise<void>
}

/** Default timeout of a batch with all retries. A process that ends waits no longer than this. */
const timeoutMs = 3000
const timeouts = ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT']
/** The `code` of an export that succeeded. */
const exported = 0

/**
 * Sends spans by OTLP, as protobuf over HTTP, in batches. The `OTEL_*` variables of this process configure endpoint, headers
 * and batch size. Failures are logged once, until an export succeeds.
 */
export function exportSpans(log: Log): SpanExport {
  normalizeHeaders(log)
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
      await processor.shutdown().catch(() => {}) // The watched exporter has logged the failure.
      const lost = added - watched.exported
      if (lost > 0) log.warn({ lost }, 'spans were lost on their way to the collector')
    },
  }
}

const headerVariables = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS']
const headerName = /^[!#$%&'*+.^_`|~\w-]+$/

/**
 * Rewrites headers that were copied from a collector's page, `Authorization: Basic …`, into `name=value`, which OpenTelemetry
 * reads. OpenTelemetry would take the text before the first `=` for the name, and quote it, credential included, if it is not a
 * valid name. Drops entries without a valid header name.
 */
function normalizeHeaders(log: Log): void {
  for (const variable of headerVariables) {
    const given = process.env[variable]
    if (given === undefined) continue
    const entries = given.split(',').filter((entry) => entry.trim() !== '')
    const kept = entries.flatMap((entry) => {
      const [, name = '', sign, value = ''] = /^([^:=]*)([:=])(.*)$/s.exec(entry) ?? []
      if (!headerName.test(name.trim())) return []
      return `${name.trim()}=${sign === ':' ? encodeURIComponent(value.trim()) : value.trim()}`
    })
    process.env[variable] = kept.join(',')
    const ignored = entries.length - kept.length
    if (ignored > 0) log.warn({ variable, ignored }, `${variable} takes name=value,…; the rest is ignored`)
  }
}

/** Counts exported spans, and logs when exports begin to fail and when they work again. */
function watchExporter(inner: SpanExporter, log: Log) {
  let isFailing = false
  let count = 0
  const exporter: SpanExporter = {
    export: (spans, done) =>
      inner.export(spans, (result) => {
        const hasFailed = result.code !== exported
        if (!hasFailed) count += spans.length
        if (hasFailed && !isFailing)
          log.warn(describeFailure(result.error), 'traces cannot be exported; this is logged once')
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

/** Leaves out the collector's response, which the error contains completely. */
const describeFailure = (error: (Error & { readonly code?: unknown }) | undefined): object => ({
  reason: error?.message,
  code: error?.code,
})

/** The service is named `meup`, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES set a name. */
const createResource = (): Resource =>
  defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'meup' }))
    .merge(detectResources({ detectors: [envDetector] }))

const instrumentationScope = { name: '@meup/telemetry' }

/** A span in the shape that exporters expect. */
function readableSpan(span: TraceSpan, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, start, end, error } = span
  const toSpanContext = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED })
  const parentSpanContext = parentSpanId === undefined ? undefined : toSpanContext(parentSpanId)
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => toSpanContext(spanId),
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

/** Converts milliseconds to seconds and nanoseconds. */
const toHrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

/** Converts attributes to OpenTelemetry's types, which require mutable arrays. */
const mutable = (attributes: Attributes) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  )
