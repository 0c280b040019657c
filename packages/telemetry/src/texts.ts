import { Bounded, isWithheld, payloadText } from '@meup/folds'
import {
  contextRoot,
  type Envelope,
  isThought,
  Kind,
  namespaceOf,
  openedContext,
  withholds,
} from '@meup/protocol'
import type { SpanEvent, SpanScope, TraceSpan } from './span.js'

interface EventList {
  readonly events: readonly SpanEvent[]
  readonly dropped: number
  readonly weight: number
}

const nothing: EventList = { events: [], dropped: 0, weight: 0 }
/** Events of one span: as many as OpenTelemetry allows by default. */
const maxEvents = 128

/**
 * Collects the texts of reasoning as events of the context that they belong to. Texts that not everybody may read are left
 * out: those with an addressee, and those of a run that is hidden [MEUP-9.6].
 */
export class TextEvents {
  readonly #scope: SpanScope
  readonly #events = new Bounded<EventList>(8e6, ({ weight }) => weight)

  constructor(scope: SpanScope) {
    this.#scope = scope
  }

  onEnvelope(envelope: Envelope): void {
    const { kind, from, to, seq = 0, ts } = envelope
    if (namespaceOf(kind) !== 'reasoning' || to !== undefined) return
    const path = kind === Kind.reasoningStart ? openedContext(envelope) : (envelope.context ?? '')
    const view = this.#scope.getOpened(path)
    const isOver = view === undefined || (view.endedAt !== null && view.ending?.source.id !== envelope.id)
    const text = getText(envelope)
    if (isOver || text.trim() === '' || (isThought(kind) && this.#isWithheld(path, from))) return
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

  /** The events of a context that has ended, without the thoughts of a run that is hidden. */
  end(context: string): Pick<TraceSpan, 'events' | 'droppedEvents'> {
    const { events, dropped: droppedEvents } = this.#events.get(context) ?? nothing
    this.#events.delete(context)
    return {
      events: events.filter(({ name, attributes }) => {
        return !isThought(name) || !this.#isWithheld(context, String(attributes['gen_ai.agent.name']))
      }),
      droppedEvents,
    }
  }

  #isWithheld(context: string, from: string): boolean {
    const run = this.#scope.getOpened(contextRoot(context))
    return run !== undefined && withholds(run, from)
  }
}

function getText({ kind, payload }: Envelope): string {
  if (isWithheld(payload)) return ''
  return kind === Kind.reasoningCancel ? String(payload.reason ?? '') : payloadText(payload)
}
