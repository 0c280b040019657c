import type { Envelope } from '@meup/protocol'
import type { Space } from '../space/space.js'
import { bodyOf } from './encode.js'
import type { Outcome, Passage } from './passage.js'

/** Gives the envelope its time and its place, and folds it into the state: from here on it is admitted [MEUP-4.9]. */
export function sequence(passage: Passage, space: Space): Outcome {
  const { envelope, content } = passage
  envelope.ts = space.timestamp(passage.now)
  const body = bodyOf(passage)
  const seq = space.admit({ ...entryFields(envelope), body, content }, passage.sender)
  envelope.seq = seq
  space.state.apply(envelope)
  return undefined
}

/** What the log indexes of an envelope. */
export function entryFields({ id, ts, from, kind, to, context, correlationId }: Envelope) {
  return {
    id,
    ts,
    from,
    kind,
    ...(to && { to }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
  }
}
