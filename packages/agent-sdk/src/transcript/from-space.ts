import type { Envelope } from '@meup/protocol'
import type { Space } from '../participant/space.js'
import { SpaceFold, type SpaceView } from './space-fold.js'
import { Transcript, type TranscriptOptions } from './transcript.js'

/** A log that goes on. */
export interface FollowedSpace extends Disposable {
  /** What was said up to now, to go on from: what is asked and answered in it stays out of the space. */
  transcript(options?: TranscriptOptions): Transcript
  /** Stops listening. */
  [Symbol.dispose](): void
}

/**
 * A transcript of what was said in a space: chats of `self` are the assistant's, those of others come from users by
 * name. Reasoning is in the log of it as well; in prompts there is what `reasoning` chooses. What was withheld, hidden
 * or taken back is not there.
 */
export function fromSpace(envelopes: Iterable<Envelope>, options: SpaceView & TranscriptOptions): Transcript {
  const fold = new SpaceFold(options)
  for (const envelope of envelopes) fold.apply(envelope)
  return new Transcript(fold.chain(), options)
}

/** The same of what this seat is shown from now on; with the past where it entered with `after: 0`. */
export function followSpace(space: Space, view: Omit<SpaceView, 'self'> = {}): FollowedSpace {
  const begin = (): SpaceFold => new SpaceFold({ ...view, self: space.id })
  let fold = begin()
  const take = (envelope: Envelope): void => fold.apply(envelope)
  const lost = (): void => {
    fold = begin()
  }
  space.on('envelope', take).on('lost', lost)
  return {
    transcript: (options = {}) => new Transcript(fold.chain(), options),
    [Symbol.dispose]() {
      space.off('envelope', take).off('lost', lost)
    },
  }
}
