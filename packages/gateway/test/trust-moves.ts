import { type Capability, Kind } from '@meup/protocol'
import fc from 'fast-check'
import { hashToken } from '../src/core/state/trust/invitations.js'

interface Cast {
  readonly names: readonly string[]
  readonly capabilities: readonly Capability[][]
  /** An RFC 3339 time, this number of seconds after the log begins. */
  at(seconds: number): string
}

/**
 * Generators of envelopes that change trust, even of some that would be refused. Half of the grants, invitations and kicks
 * expire.
 */
export function trustMoves({ names, capabilities, at }: Cast) {
  const from = fc.constantFrom(...names)
  const rights = fc.constantFrom(...capabilities)
  const seconds = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined, freq: 2 })
  const end = <Name extends string>(name: Name, after: number | undefined) =>
    after === undefined ? {} : { [name]: at(after) }
  return {
    grant: fc.record({ from, recipient: from, rights, seconds }).map((made) => ({
      from: made.from,
      kind: Kind.capabilityGrant,
      payload: {
        recipient: made.recipient,
        capabilities: made.rights,
        ...end('expiresAt', made.seconds),
      },
    })),
    /** A revocation without capabilities has to name a grant: the caller adds `grantId`. */
    revoke: fc
      .record({ from, recipient: from, capabilities: fc.option(rights, { nil: undefined }) })
      .map(({ from, recipient, capabilities }) => ({
        from,
        kind: Kind.capabilityRevoke,
        payload: { recipient, ...(capabilities && { capabilities }) },
      })),
    acknowledge: fc.record({
      from,
      kind: fc.constant(Kind.capabilityGrantAck),
      payload: fc.constantFrom({ status: 'declined' }, { status: 'accepted' }),
    }),
    invite: fc.record({ from, participantId: from, rights, seconds }).map((made) => ({
      from: made.from,
      kind: Kind.spaceInvite,
      payload: {
        participantId: made.participantId,
        capabilities: made.rights,
        tokenSha256: hashToken(tokenOf(made.participantId)),
        ...end('expiresAt', made.seconds),
      },
    })),
    kick: fc.record({ from, participantId: from, seconds }).map((made) => ({
      from: made.from,
      kind: Kind.spaceKick,
      payload: { participantId: made.participantId, reason: 'so', ...end('untilTs', made.seconds) },
    })),
  }
}

export const tokenOf = (participant: string): string => `token of ${participant}`
