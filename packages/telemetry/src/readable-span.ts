import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import type { Attributes, TraceSpan } from './span.js'

const instrumentationScope = { name: '@meup/telemetry' }

/** A span as exporters want it. */
export function readableSpan(span: TraceSpan, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, name, start, end, error } = span
  const contextOf = (id: string) => ({ traceId, spanId: id, traceFlags: TraceFlags.SAMPLED })
  const parentSpanContext = parentSpanId === undefined ? undefined : contextOf(parentSpanId)
  return {
    name,
    kind: SpanKind.INTERNAL,
    spanContext: () => contextOf(spanId),
    ...(parentSpanContext && { parentSpanContext }),
    startTime: timeOf(start),
    endTime: timeOf(end),
    duration: timeOf(end - start),
    ended: true,
    status: { code: error === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: { ...mutable(span.attributes), ...(error !== undefined && { 'error.type': error }) },
    events: span.events.map((event) => ({
      name: event.name,
      time: timeOf(event.time),
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
const timeOf = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]

/** The lists of OpenTelemetry are not read-only. */
const mutable = (attributes: Attributes) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typeof value === 'object' ? [...value] : value]),
  )
