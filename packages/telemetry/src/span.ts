import type { ContextFold, ContextView, SpanContext, Traces } from '@meup/folds'
import { contextParent, contextRoot } from '@meup/protocol'

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
export const createAttributes = (loose: Loose): Attributes =>
  Object.fromEntries(
    Object.entries(loose).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

/** Where in a space, and in its traces, something stands. */
export class SpanScope {
  readonly #space: string
  readonly #contexts: Pick<ContextFold, 'get'>
  readonly #traces: Traces

  constructor(space: string, contexts: Pick<ContextFold, 'get'>, traces: Traces) {
    this.#space = space
    this.#contexts = contexts
    this.#traces = traces
  }

  /** The context, unless it is a free path: nothing but a start makes a span of it. */
  getOpened(context: string): ContextView | undefined {
    const view = this.#contexts.get(context)
    return view === undefined || view.state === 'free' ? undefined : view
  }

  /** The span of this context, or of the innermost around it that a start has opened. */
  findSpan(context: string | undefined): SpanContext | undefined {
    for (let at = context; at !== undefined; at = contextParent(at)) {
      if (this.getOpened(at) !== undefined) return this.#traces.getContextSpan(at)
    }
    return undefined
  }

  /** What every span tells. A conversation is the thread of whose run it is; outside any, of who acts. */
  attributes(agent: string, context: string | undefined): Attributes {
    const run = context === undefined ? undefined : this.#contexts.get(contextRoot(context))
    return createAttributes({
      'gen_ai.agent.id': agent,
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': `${this.#space}/${run?.owner ?? agent}`,
      'meup.space': this.#space,
      'meup.context': context,
    })
  }
}
