import type { ContextFold, ContextView, SpanContext, Traces } from '@meup/folds'
import { contextParent, contextRoot } from '@meup/protocol'

export type Attributes = Readonly<Record<string, string | number | readonly string[]>>

/** A text that was sent while the span lasted. `time` in milliseconds since the epoch. */
export interface SpanEvent {
  readonly name: string
  readonly time: number
  readonly attributes: Attributes
}

/** A finished span as plain data. Its kind is `INTERNAL`. Times in milliseconds since the epoch. */
export interface TraceSpan extends SpanContext {
  /** Absent for the root span of a trace. */
  readonly parentSpanId?: string
  readonly name: string
  readonly start: number
  readonly end: number
  readonly attributes: Attributes
  readonly events: readonly SpanEvent[]
  /** Number of events left out because there were too many. */
  readonly droppedEvents: number
  /** Value of `error.type`, from a small fixed set; absent without an error. */
  readonly error?: string
}

type Loose = Readonly<Record<string, Attributes[string] | undefined>>

/** Removes the attributes without a value. */
export const createAttributes = (loose: Loose): Attributes =>
  Object.fromEntries(
    Object.entries(loose).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

/** Looks up the contexts of a space, their spans and the attributes that all spans share. */
export class SpanScope {
  readonly #space: string
  readonly #contexts: Pick<ContextFold, 'get'>
  readonly #traces: Traces

  constructor(space: string, contexts: Pick<ContextFold, 'get'>, traces: Traces) {
    this.#space = space
    this.#contexts = contexts
    this.#traces = traces
  }

  /** The context if a `reasoning.start` opened it. Others, which envelopes only name, have state `free` and no span. */
  getOpened(context: string): ContextView | undefined {
    const view = this.#contexts.get(context)
    return view === undefined || view.state === 'free' ? undefined : view
  }

  /** The span of this context, or of the innermost opened context around it. */
  findSpan(context: string | undefined): SpanContext | undefined {
    for (let at = context; at !== undefined; at = contextParent(at)) {
      if (this.getOpened(at) !== undefined) return this.#traces.getContextSpan(at)
    }
    return undefined
  }

  /** Attributes of every span. The conversation is identified by the run's owner; outside any run, by `agent`. */
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
