import { type ContextView, getEnding, type Traces } from '@meup/folds'
import { contextParent, correlations, type Envelope } from '@meup/protocol'
import type { Places } from './places.js'
import { attributesOf, type TraceSpan } from './span.js'
import type { Texts } from './texts.js'

/** The span of a context that this envelope has ended: what its starter did, from start to end. */
export function spanOfContext(
  view: ContextView,
  ending: Envelope,
  { places, traces, texts }: { places: Places; traces: Traces; texts: Texts | undefined },
): TraceSpan {
  const { context, opening, metadata, startedAt } = view
  const agent = view.owner ?? ''
  const [state] = getEnding(ending)
  const parent =
    contextParent(context) === undefined ? traces.originOf(context) : places.spanAt(contextParent(context))
  const model = metadata?.model
  const triggers = opening === null ? [] : correlations(opening.source)
  return {
    ...traces.inContext(context),
    ...(parent && { parentSpanId: parent.spanId }),
    name: `invoke_agent ${agent}`,
    start: Date.parse(startedAt),
    end: Date.parse(ending.ts),
    attributes: attributesOf({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'meup',
      ...places.attributes(agent, context),
      'gen_ai.request.model': typeof model === 'string' ? model : undefined,
      'meup.seq': opening?.source.seq,
      'meup.trigger': triggers.length === 0 ? undefined : triggers,
    }),
    ...(texts?.end(context) ?? { events: [], droppedEvents: 0 }),
    ...(state !== 'completed' && { error: state }),
  }
}
