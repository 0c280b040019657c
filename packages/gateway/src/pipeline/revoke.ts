import type { LoggedRevoke } from '../space/trust/revocation.js'
import { addToPayload } from './add-to-payload.js'
import type { Outcome, Passage } from './passage.js'

/** Adds the grants that a revocation by capabilities takes back to what is logged [MEUP-4.15]. */
export function revoke(passage: Passage): Outcome {
  const { envelope, revoked } = passage
  if (revoked === undefined || (envelope.payload as LoggedRevoke).grantId !== undefined) return undefined
  addToPayload(passage, { revoked: revoked.map(({ id }) => id) })
  return undefined
}
