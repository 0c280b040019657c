import type { SpanContext } from '@meup/folds'

export type Attributes = Readonly<Record<string, string | number | readonly string[]>>

/** Something that was said while a span lasted. `time` in milliseconds since the epoch. */
export interface SpanEvent {
  readonly name: string
  readonly time: number
  readonly attributes: Attributes
}

/** A finished span as plain data. Its kind is `INTERNAL`. Times in milliseconds since the epoch. */
export interface TraceSpan extends SpanContext {
  /** Absent = its trace begins with it. */
  readonly parentSpanId?: string
  readonly name: string
  readonly start: number
  readonly end: number
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  /** Events that were too many. */
  readonly droppedEvents: number
  /** What went wrong, as one of few words: `error.type`. Absent = nothing. */
  readonly error?: string
}

type Loose = Readonly<Record<string, Attributes[string] | undefined>>

/** The attributes that have a value. */
export const attributesOf = (loose: Loose): Attributes =>
  Object.fromEntries(
    Object.entries(loose).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
