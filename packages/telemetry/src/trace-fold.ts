import {
  Bounded,
  type ContextFold,
  type ContextView,
  createContextFold,
  getEnding,
  isWithheld,
  Participants,
  payloadText,
  readRunUsage,
  SpaceView,
  Traces,
} from '@meup/folds'
import {
  contextParent,
  correlations,
  type Envelope,
  isThought,
  Kind,
  namespaceOf,
  openedContext,
} from '@meup/protocol'
import { CallSpans } from './calls.js'
import { createAttributes, type SpanEvent, SpanScope, type TraceSpan } from './span.js'

export interface TraceOptions {
  /** Name of the space. */
  readonly space: string
  /** Epoch of the log, from which span ids are derived. */
  readonly epoch: string
  /** Whether spans carry the texts of reasoning as events; default: no. */
  readonly captureText?: boolean
}

/** Turns the envelopes of a log, in log order, into spans; the same log always gives the same spans. Its memory is bounded. */
export interface TraceFold {
  /** Last `seq` that was applied; 0 = none. */
  readonly seq: number
  /** The spans that this envelope ends; none if it was already applied or is not logged. */
  apply(envelope: Envelope): readonly TraceSpan[]
}

/**
 * The activity of a space as OpenTelemetry spans, by its conventions for generative AI: a run and each context in it is
 * `invoke_agent`, a tool call `execute_tool`. The only text in them is the rationale of a call; `captureText` adds the texts of
 * reasoning. Arguments and results of tools are never included.
 */
export const createTraceFold = (options: TraceOptions): TraceFold => new Spans(options)

type Facts = {
  readonly participants: Participants
  readonly contexts: ContextFold
  readonly traces: Traces
  readonly calls: CallSpans
}

class Spans implements TraceFold {
  readonly #scope: SpanScope
  readonly #texts: TextEvents | undefined
  readonly #space: SpaceView<Facts>

  constructor({ space, epoch, captureText = false }: TraceOptions) {
    const contexts = createContextFold()
    const traces = new Traces(() => epoch)
    this.#scope = new SpanScope(space, contexts, traces)
    this.#texts = captureText ? new TextEvents(this.#scope, contexts) : undefined
    const calls = new CallSpans(this.#scope, traces)
    this.#space = new SpaceView({ participants: new Participants(), contexts, traces, calls })
  }

  get seq(): number {
    return this.#space.seq
  }

  apply(envelope: Envelope): readonly TraceSpan[] {
    const changes = this.#space.apply(envelope)
    if (changes === undefined) return []
    this.#texts?.onEnvelope(envelope)
    const ended = changes.contexts.contexts.filter((each) => isEndedBy(each, envelope))
    const parts = { scope: this.#scope, traces: this.#space.facts.traces, texts: this.#texts }
    return [...changes.calls, ...ended.map((each) => createContextSpan(each, envelope, parts))]
  }
}

const isEndedBy = ({ endedAt, ending }: ContextView, { id }: Envelope): boolean =>
  endedAt !== null && ending?.source.id === id

/** The span of a context that the envelope `ending` has closed. */
function createContextSpan(
  view: ContextView,
  ending: Envelope,
  { scope, traces, texts }: { scope: SpanScope; traces: Traces; texts: TextEvents | undefined },
): TraceSpan {
  const { context, opening, metadata, startedAt } = view
  const agent = view.owner ?? ''
  const [state] = getEnding(ending)
  const parent =
    contextParent(context) === undefined
      ? traces.getParentSpan(context)
      : scope.findSpan(contextParent(context))
  const { model } = readRunUsage(metadata)
  const { input, output } = readRunUsage(ending.payload.metadata).tokens
  const triggers = opening === null ? [] : correlations(opening.source)
  return {
    ...traces.getContextSpan(context),
    ...(parent && { parentSpanId: parent.spanId }),
    name: `invoke_agent ${agent}`,
    start: Date.parse(startedAt),
    end: Date.parse(ending.ts),
    attributes: createAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'meup',
      ...scope.attributes(agent, context),
      'gen_ai.request.model': model,
      'gen_ai.usage.input_tokens': input,
      'gen_ai.usage.output_tokens': output,
      'meup.seq': opening?.source.seq,
      'meup.trigger': triggers.length === 0 ? undefined : triggers,
    }),
    ...(texts?.end(context) ?? { events: [], droppedEvents: 0 }),
    ...(state !== 'completed' && { error: state }),
  }
}

interface EventList {
  readonly events: readonly SpanEvent[]
  readonly dropped: number
  readonly weight: number
}

const nothing: EventList = { events: [], dropped: 0, weight: 0 }
/** Maximum events of one span: the default limit of OpenTelemetry. */
const maxEvents = 128

/**
 * Collects texts of reasoning as events of their contexts. Omits texts that are not public: those with an addressee, and those
 * of a hidden run [MEUP-9.6].
 */
class TextEvents {
  readonly #scope: SpanScope
  readonly #contexts: ContextFold
  readonly #events = new Bounded<EventList>(8e6, ({ weight }) => weight)

  constructor(scope: SpanScope, contexts: ContextFold) {
    this.#scope = scope
    this.#contexts = contexts
  }

  onEnvelope(envelope: Envelope): void {
    const { kind, from, to, seq = 0, ts } = envelope
    if (namespaceOf(kind) !== 'reasoning' || to !== undefined) return
    const path = kind === Kind.reasoningStart ? openedContext(envelope) : (envelope.context ?? '')
    const view = this.#scope.getOpened(path)
    const isOver = view === undefined || (view.endedAt !== null && view.ending?.source.id !== envelope.id)
    const text = getText(envelope)
    if (isOver || text.trim() === '' || (isThought(kind) && this.#contexts.states.withholds(path, from)))
      return
    const { events, dropped, weight } = this.#events.get(path) ?? nothing
    const attributes = { 'gen_ai.agent.name': from, 'meup.seq': seq, 'meup.message': text }
    const event = { name: kind, time: Date.parse(ts), attributes }
    this.#events.set(
      path,
      events.length === maxEvents
        ? { events, dropped: dropped + 1, weight }
        : { events: [...events, event], dropped, weight: weight + 200 + text.length },
    )
  }

  /** The events of an ended context, without the thoughts of a hidden run. */
  end(context: string): Pick<TraceSpan, 'events' | 'droppedEvents'> {
    const { events, dropped: droppedEvents } = this.#events.get(context) ?? nothing
    this.#events.delete(context)
    return {
      events: events.filter(({ name, attributes }) => {
        const from = String(attributes['gen_ai.agent.name'])
        return !isThought(name) || !this.#contexts.states.withholds(context, from)
      }),
      droppedEvents,
    }
  }
}

function getText({ kind, payload }: Envelope): string {
  if (isWithheld(payload)) return ''
  return kind === Kind.reasoningCancel ? String(payload.reason ?? '') : payloadText(payload)
}
