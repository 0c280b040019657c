export { exportSpans, type SpanExport } from './export-spans.js'
export type { Attributes, SpanEvent, TraceSpan } from './span.js'
export { createTraceFold, type TraceFold, type TraceOptions } from './trace-fold.js'
