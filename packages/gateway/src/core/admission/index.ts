import { authorize } from './authorize.js'
import { available } from './available.js'
import type { Admission, AdmissionContext, Outcome, Step } from './context.js'
import { decode } from './decode.js'
import { deduplicate } from './deduplicate.js'
import { deliverInviteToken } from './deliver-invite-token.js'
import { identify } from './identify.js'
import { invite } from './invite.js'
import { limit, limiting } from './limit.js'
import { revoke } from './revoke.js'
import { guard, record } from './safety.js'
import { sequence } from './sequence.js'
import { subscribe } from './subscribe.js'
import { validate } from './validate.js'

/**
 * An envelope's way in. After the last step it waits in the group commit (`space/group-commit`) for the log to
 * append it; only then is it acknowledged and delivered (`outbox/broadcast`).
 */
export const pipeline: readonly Step[] = [
  decode, //     frame → envelope, aliases resolved
  limiting(identify), // from := the sender
  available, //  the space takes envelopes at present
  limiting(deduplicate), // known id → the original, or duplicate_id
  limit, //      the class is charged; who is kicked or paused
  validate, //   fields and payload by kind: what follows may rely on them
  authorize, //  capabilities, owners, addressees
  subscribe, //  observe.subscribe ends here
  guard, //      reasoning, rationales and metadata, made fit to be seen
  invite, //     space.invite gets a token
  revoke, //     capability.revoke gets the ids of what it takes back
  sequence, //   seq, ts, state: admitted
  record, //     what the guard decided
  deliverInviteToken, //    the token goes to the inviter, once its invitation is logged
]

export function pass(admission: AdmissionContext, space: Admission): Outcome {
  for (const step of pipeline) {
    const outcome = step(admission, space)
    if (outcome !== undefined) return outcome
  }
  return undefined
}
