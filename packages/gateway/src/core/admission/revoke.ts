import type { LoggedRevoke } from '../state/trust/revocation.js'
import { addToPayload } from './add-to-payload.js'
import type { AdmissionContext, Outcome } from './context.js'

/** Adds the grants that a revocation by capabilities takes back to what is logged [MEUP-4.15]. */
export function revoke(admission: AdmissionContext): Outcome {
  const { envelope, revoked } = admission
  if (revoked === undefined || (envelope.payload as LoggedRevoke).grantId !== undefined) return undefined
  addToPayload(admission, { revoked: revoked.map(({ id }) => id) })
  return undefined
}
