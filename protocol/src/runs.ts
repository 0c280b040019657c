import { contextRoot } from './context.js'
import type { Envelope } from './envelope.js'
import { correlations, Kind } from './kinds.js'

/** Returns the owner of the run that a context belongs to: the sender of its start; `undefined` = there is none. */
export function ownerOf(context: string, envelopes: Iterable<Envelope>): string | undefined {
  return startOf(context, envelopes)?.from
}

/**
 * Returns the final answer of the run of a context: its owner's chat in the main conversation that answers the trigger of the
 * run, or the run itself [MEUP-2.10].
 */
export function answerFor(context: string, envelopes: Iterable<Envelope>): Envelope | undefined {
  const all = [...envelopes]
  const start = startOf(context, all)
  if (start === undefined) return undefined
  const triggers = new Set([start.id, ...correlations(start)])
  return all.find(
    (envelope) =>
      envelope.kind === Kind.chat &&
      envelope.context === undefined &&
      envelope.from === start.from &&
      correlations(envelope).some((id) => triggers.has(id)),
  )
}

function startOf(context: string, envelopes: Iterable<Envelope>): Envelope | undefined {
  const root = contextRoot(context)
  for (const envelope of envelopes) {
    if (envelope.id === root && envelope.kind === Kind.reasoningStart && envelope.context === undefined)
      return envelope
  }
  return undefined
}
