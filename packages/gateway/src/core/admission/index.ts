import { WorkError } from '@meup/protocol'
import { LogError } from '../../log/error.js'
import type { Logger } from '../../ports/logger.js'
import { authorize } from './authorize.js'
import type { Admission, AdmissionContext, Outcome, Step } from './context.js'
import { decode } from './decode.js'
import { deduplicate, deliverInviteToken, identify, invite, relay, revoke, sequence } from './identity.js'
import { available, limit, subscribe, withRateLimit } from './limits.js'
import { guard, record } from './safety.js'
import { validate } from './validate.js'

/**
 * The admission of an envelope, step by step. After the last step the group commit (`core/group-commit`) appends it to
 * the log; only then is it acknowledged and delivered (`core/delivery/broadcast`).
 */
export const pipeline: readonly Step[] = [
  decode, //     frame → envelope, aliases resolved
  withRateLimit(identify), // from := the sender
  available, //  the space takes envelopes at present
  withRateLimit(deduplicate), // known id → the original, or duplicate_id
  limit, //      the class is charged; who is kicked or paused
  validate, //   fields and payload by kind: what follows may rely on them
  authorize, //  capabilities, owners, addressees
  subscribe, //  observe.subscribe ends here
  relay, //      chat.delta ends here
  guard, //      reasoning, rationales and metadata, made fit to be seen
  invite, //     space.invite gets a token
  revoke, //     capability.revoke gets the ids of what it takes back
  sequence, //   seq, ts, state: admitted
  record, //     what the guard decided
  deliverInviteToken, //    the token goes to the inviter, once its invitation is logged
]

function pass(admission: AdmissionContext, space: Admission): Outcome {
  for (const step of pipeline) {
    const outcome = step(admission, space)
    if (outcome !== undefined) return outcome
  }
  return undefined
}

/** What fails here fails one envelope: nothing has been changed yet, and the others go on. */
export function attempt(
  admission: AdmissionContext,
  space: Admission & { readonly logger: Logger },
): Outcome {
  try {
    return pass(admission, space)
  } catch (err) {
    if (err instanceof WorkError) {
      return { code: 'payload_too_large', message: `${err.message}. Send less of them in one envelope.` }
    }
    space.logger.error({ space: space.config.name, err }, 'an envelope could not be decided on')
    return err instanceof LogError
      ? { code: 'unavailable', message: 'The log cannot be read. Send it again later.' }
      : { code: 'internal', message: 'The gateway failed on this envelope. Tell the operator.' }
  }
}
