import { Coverage, type Envelope, type RevokePayload, type WorkMeter } from '@meup/protocol'
import type { Grant } from './grants.js'
import type { Trust } from './trust.js'

/**
 * As it is logged: by its capabilities the gateway has found the grants that it takes back, and adds their ids. Thus a
 * replay compares no patterns, and decides the same under other limits [MEUP-4.15].
 */
export type LoggedRevoke = RevokePayload & { readonly revoked?: readonly string[] }

/** The standing grants that a revocation speaks of, whoever gave them. */
export function namedIn(
  { recipient, grantId, capabilities = [] }: RevokePayload,
  { grants }: Trust,
  meter?: WorkMeter,
): Grant[] {
  if (grantId === undefined) {
    const coverage = new Coverage()
    const held = [capabilities]
    return grants.to(recipient).filter((grant) => coverage.firstGap(held, grant.capabilities, meter) === -1)
  }
  const grant = grants.get(grantId)
  return grant?.recipient === recipient ? [grant] : []
}

/** Those of them that its sender takes back: its own, or all where the operator lets it revoke [MEUP-4.15]. */
export function revocable(named: readonly Grant[], revocation: Envelope, trust: Trust): readonly Grant[] {
  const { from } = revocation
  if (trust.participants.allowsByConfiguration(from, revocation)) return named
  return named.filter(({ grantor }) => grantor === from)
}

/** Ids of the grants that a logged revocation takes back. */
export function revokedBy(revocation: Envelope, trust: Trust): ReadonlySet<string> {
  const payload = revocation.payload as LoggedRevoke
  const found = payload.revoked ?? revocable(namedIn(payload, trust), revocation, trust).map(({ id }) => id)
  return new Set(found)
}
