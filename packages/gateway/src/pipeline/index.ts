import { authorize } from './authorize.js'
import { available } from './available.js'
import { decode } from './decode.js'
import { identify } from './identify.js'
import { limit } from './limit.js'
import type { Admission, Outcome, Passage, Step } from './passage.js'
import { recognise } from './recognise.js'
import { sequence } from './sequence.js'
import { subscribe } from './subscribe.js'
import { validate } from './validate.js'

/**
 * An envelope's way in. After the last step it waits in the group commit (`space/group-commit`) for the log to
 * append it; only then is it acknowledged and delivered (`outbox/broadcast`).
 */
export const pipeline: readonly Step[] = [
  decode, //     frame → envelope, aliases resolved
  identify, //   from := the sender
  available, //  the space takes envelopes at present
  recognise, //  known id → the original, or duplicate_id
  limit, //      token buckets
  authorize, //  capabilities, owners, addressees
  validate, //   fields and payload by kind
  subscribe, //  observe.subscribe ends here
  sequence, //   seq, ts, state: admitted
]

export function pass(passage: Passage, space: Admission): Outcome {
  for (const step of pipeline) {
    const outcome = step(passage, space)
    if (outcome !== undefined) return outcome
  }
  return undefined
}
