import { Coverage, type Envelope, type RevokePayload } from '@meup/protocol'
import type { Grant } from './grants.js'
import type { Trust } from './trust.js'

/** The standing grants that a revocation speaks of, whoever gave them. */
export function namedIn(
  { recipient, grantId, capabilities = [] }: RevokePayload,
  { grants }: Trust,
): Grant[] {
  if (grantId === undefined) {
    const coverage = new Coverage()
    const asked = [capabilities]
    return grants.to(recipient).filter((grant) => coverage.firstGap(asked, grant.capabilities) === -1)
  }
  const grant = grants.get(grantId)
  return grant?.recipient === recipient ? [grant] : []
}

/** Those of them that it takes back: its sender's own, or all where the operator lets its sender revoke [MEUP-4.15]. */
export function revokedBy(envelope: Envelope, trust: Trust): Grant[] {
  const { from, payload } = envelope
  const named = namedIn(payload as RevokePayload, trust)
  if (trust.participants.allowsByConfiguration(from, envelope)) return named
  return named.filter(({ grantor }) => grantor === from)
}
