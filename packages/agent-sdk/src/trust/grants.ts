import { type AnyEnvelope, type Capability, Kind } from '@meup/protocol'
import type { Seat } from '../participant/seat.js'

/** Capabilities that somebody was given; it stands until it is revoked or expires, or its grantor loses them. */
export interface Grant {
  readonly id: string
  readonly recipient: string
  readonly capabilities: readonly Capability[]
  /** RFC 3339. */
  readonly expiresAt?: string
}

export interface GrantOptions {
  /** RFC 3339; without it the grant stands until it is revoked. */
  readonly expiresAt?: string
  readonly reason?: string
}

/** One grant, or every standing grant to somebody that these capabilities cover. */
export type Revocable =
  | Pick<Grant, 'id' | 'recipient'>
  | { readonly id?: never; readonly recipient: string; readonly capabilities: readonly Capability[] }

export async function grant(
  seat: Pick<Seat, 'send'>,
  recipient: string,
  capabilities: readonly Capability[],
  { expiresAt, reason }: GrantOptions,
): Promise<Grant> {
  const term = expiresAt === undefined ? {} : { expiresAt }
  const payload = { recipient, capabilities, ...term, ...(reason !== undefined && { reason }) }
  const { id } = await seat.send({ kind: Kind.capabilityGrant, payload })
  return { id, recipient, capabilities, ...term }
}

export function revoke(
  seat: Pick<Seat, 'send'>,
  what: Revocable,
  reason: string | undefined,
): Promise<AnyEnvelope> {
  const { recipient } = what
  const which = what.id === undefined ? { capabilities: what.capabilities } : { grantId: what.id }
  const payload = { recipient, ...which, ...(reason !== undefined && { reason }) }
  return seat.send({ kind: Kind.capabilityRevoke, payload })
}
