import { createTraceFold, type TraceOptions, type TraceSpan } from '@meup/telemetry'
import { type Fields, feed } from '../../../folds/test/support/log.js'

export const epoch = 'epoch-1'

/** The spans of a log, in the order in which they end. */
export function foldSpans(log: readonly Fields[], options: Partial<TraceOptions> = {}): TraceSpan[] {
  return feed(createTraceFold({ space: 'demo', epoch, ...options }), log).flat()
}

/** Draws spans as indented lines in the order of their starts: the name, and the error if any. */
export function drawn(spans: readonly TraceSpan[]): string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const under = (parent: string | undefined, indent: string): string[] =>
    spans
      .filter(({ parentSpanId = '' }) => (ids.has(parentSpanId) ? parentSpanId : undefined) === parent)
      .sort((one, other) => one.start - other.start)
      .flatMap(({ name, error, spanId }) => [
        `${indent}${name}${error === undefined ? '' : `: ${error}`}`,
        ...under(spanId, `${indent}  `),
      ])
  return under(undefined, '')
}
