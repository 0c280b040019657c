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
import type { Places, SpanEvent, TraceSpan } from './span.js'

interface Said {
  readonly events: readonly SpanEvent[]
  readonly dropped: number
  readonly weight: number
}

const nothing: Said = { events: [], dropped: 0, weight: 0 }
/** Events of one span: as many as OpenTelemetry allows by default. */
const maxEvents = 128

/**
 * What was thought aloud, as events of the context it was said in. What not everybody may read is left out: what is
 * addressed to some, and what was said while its run was hidden [MEUP-9.6].
 */
export class Texts {
  readonly #places: Places
  readonly #said = new Bounded<Said>(8e6, ({ weight }) => weight)

  constructor(places: Places) {
    this.#places = places
  }

  take(envelope: Envelope): void {
    const { kind, from, to, seq = 0, ts } = envelope
    if (namespaceOf(kind) !== 'reasoning' || to !== undefined) return
    const path = kind === Kind.reasoningStart ? openedContext(envelope) : (envelope.context ?? '')
    const view = this.#places.opened(path)
    const isOver = view === undefined || (view.endedAt !== null && view.ending?.source.id !== envelope.id)
    const text = textOf(envelope)
    if (isOver || text.trim() === '' || (isThought(kind) && this.#isWithheld(path, from))) return
    const { events, dropped, weight } = this.#said.get(path) ?? nothing
    const attributes = { 'gen_ai.agent.name': from, 'meup.seq': seq, 'meup.message': text }
    const event = { name: kind, time: Date.parse(ts), attributes }
    this.#said.set(
      path,
      events.length === maxEvents
        ? { events, dropped: dropped + 1, weight }
        : { events: [...events, event], dropped, weight: weight + 200 + text.length },
    )
  }

  /** What was said in a context that is over. What a hidden run has thought may not be read yet. */
  end(context: string): Pick<TraceSpan, 'events' | 'droppedEvents'> {
    const { events, dropped: droppedEvents } = this.#said.get(context) ?? nothing
    this.#said.delete(context)
    return {
      events: events.filter(({ name, attributes }) => {
        return !isThought(name) || !this.#isWithheld(context, String(attributes['gen_ai.agent.name']))
      }),
      droppedEvents,
    }
  }

  #isWithheld(context: string, from: string): boolean {
    const run = this.#places.opened(contextRoot(context))
    return run !== undefined && withholds(run, from)
  }
}

function textOf({ kind, payload }: Envelope): string {
  if (isWithheld(payload)) return ''
  return kind === Kind.reasoningCancel ? String(payload.reason ?? '') : payloadText(payload)
}
