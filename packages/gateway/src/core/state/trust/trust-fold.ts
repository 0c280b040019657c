import {
  correlations,
  type Envelope,
  type GrantAckPayload,
  type GrantPayload,
  type InvitePayload,
  type KickPayload,
  Kind,
  type PresencePayload,
} from '@meup/protocol'
import type { Fold } from '../fold.js'
import { configure, presence } from './membership.js'
import { revokedBy } from './revocation.js'
import type { Trust, TrustSnapshot } from './trust.js'

/** As it is logged: the gateway has added the hash, save where the operator's token is good already. */
type LoggedInvite = InvitePayload & { readonly tokenSha256?: string }

/** What the envelopes of a log make of who is trusted with what. Each finds gone what expired before it. */
export class TrustFold implements Fold {
  readonly #trust: Trust
  /** By the kind of an envelope; others change nothing here. */
  readonly #effects: ReadonlyMap<string, (envelope: Envelope) => void> = new Map([
    [Kind.systemSpace, ({ payload }) => configure(payload, this.#trust)],
    [Kind.systemPresence, ({ payload }) => presence(payload as PresencePayload, this.#trust)],
    [Kind.capabilityGrant, (envelope) => this.#grant(envelope, envelope.payload as GrantPayload)],
    [Kind.capabilityRevoke, (envelope) => this.#revoke(envelope)],
    [Kind.capabilityGrantAck, (envelope) => this.#acknowledge(envelope)],
    [Kind.spaceInvite, (envelope) => this.#invite(envelope, envelope.payload as LoggedInvite)],
    [Kind.spaceKick, (envelope) => this.#kick(envelope, envelope.payload as KickPayload)],
  ] satisfies [string, (envelope: Envelope) => void][])

  constructor(trust: Trust) {
    this.#trust = trust
  }

  apply(envelope: Envelope): void {
    const trust = this.#trust
    if (trust.soonest !== Number.POSITIVE_INFINITY) trust.advance(Date.parse(envelope.ts))
    const { revision } = trust
    this.#effects.get(envelope.kind)?.(envelope)
    if (trust.revision !== revision) trust.changedAt = envelope.seq ?? 0
  }

  snapshot(): TrustSnapshot {
    return this.#trust.snapshot()
  }

  restore(snapshot: Parameters<Trust['restore']>[0]): void {
    this.#trust.restore(snapshot)
  }

  #grant({ id, from: grantor }: Envelope, given: GrantPayload): void {
    const { recipient, capabilities, expiresAt } = given
    this.#trust.grant({ id, grantor, recipient, capabilities, ...until('expiresAt', expiresAt) })
  }

  #revoke(revocation: Envelope): void {
    const revoked = revokedBy(revocation, this.#trust)
    this.#trust.fall(({ id }) => revoked.has(id))
  }

  /** Whoever declines a grant does not have it. */
  #acknowledge(answer: Envelope): void {
    if ((answer.payload as GrantAckPayload).status !== 'declined') return
    const declined = correlations(answer)
    this.#trust.fall(({ id }) => declined.includes(id))
  }

  /**
   * Lifts a kick. Whoever the operator has not configured begins anew, with this token and what the invitation gives:
   * what others gave is not handed on to somebody whom only the inviter knows.
   */
  #invite(envelope: Envelope, { participantId, tokenSha256 = '', ...given }: LoggedInvite): void {
    const { participants, invitations, kicks } = this.#trust
    kicks.lift(participantId)
    if (!participants.isNamed(participantId)) {
      participants.add(participantId)
      this.#trust.fall(({ recipient }) => recipient === participantId)
      const end = until('expiresAt', given.expiresAt)
      invitations.add({ participant: participantId, id: envelope.id, tokenSha256, isUsed: false, ...end })
    }
    this.#grant(envelope, { ...given, recipient: participantId })
  }

  #kick({ from: by, seq: at = 0 }: Envelope, { participantId, reason, untilTs }: KickPayload): void {
    const { participants, kicks } = this.#trust
    kicks.add(participantId, { by, at, ...(reason && { reason }), ...until('until', untilTs) })
    kicks.forget((id) => participants.has(id))
    this.#trust.changed()
  }
}

/** A time of the wire as milliseconds since the epoch; nothing where there is none. */
function until<Name extends string>(name: Name, time: string | undefined): { [Key in Name]?: number } {
  return time === undefined ? {} : ({ [name]: Date.parse(time) } as { [Key in Name]: number })
}
