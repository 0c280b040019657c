import {
  type Capability,
  correlations,
  type Envelope,
  type GrantAckPayload,
  type GrantPayload,
  GUEST,
  type InvitePayload,
  type KickPayload,
  Kind,
  type PresencePayload,
} from '@meup/protocol'
import type { Fold } from '../fold.js'
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

/** What `system.space configured` says of participants. */
interface Configuration {
  readonly participants: Readonly<Record<string, { readonly capabilities: readonly Capability[] }>>
  readonly guest?: { readonly capabilities: readonly Capability[] }
}

/** Takes what `system.space` records. */
function configure(record: Readonly<Record<string, unknown>>, trust: Trust): void {
  if (record.event === 'configured') settle(record as unknown as Configuration, trust)
}

/**
 * The configured participants are exactly those that the record names; whoever of them was invited is so no more.
 * Guests stay known while they are present, members of an issuer whatever the record names.
 */
function settle({ participants: named, guest }: Configuration, trust: Trust): void {
  const { participants, invitations, members } = trust
  const changed: string[] = []
  const gone: string[] = []
  for (const { id, named: wasNamed, present } of participants.snapshot()) {
    if (Object.hasOwn(named, id) || invitations.get(id) !== undefined || members.has(id)) continue
    if (wasNamed || !present) gone.push(id)
    else if (guest !== undefined && participants.configure(id, guest.capabilities)) changed.push(id)
  }
  const replaced = Object.keys(named).flatMap((id) => invitations.get(id)?.id ?? [])
  for (const [id, { capabilities }] of Object.entries(named)) {
    members.end(id)
    invitations.end(id)
    participants.add(id)
    participants.setNamed(id)
    if (participants.configure(id, capabilities)) changed.push(id)
  }
  trust.fall(({ id }) => replaced.includes(id), changed)
  trust.forget(gone)
  trust.changed()
}

/** Guests are known while they are there. Whoever comes or goes after its removal does not become known again. */
function presence(
  { event, participant: { id, capabilities = [] }, vouched }: PresencePayload,
  trust: Trust,
): void {
  const { participants, invitations, kicks } = trust
  if (vouched !== undefined) recordMembership(id, vouched, trust)
  if (event === 'update') {
    trust.markNotified(id)
    return
  }
  if (event === 'join' && !participants.has(id) && id.startsWith(GUEST)) {
    participants.add(id)
    participants.configure(id, capabilities)
  }
  participants.setPresent(id, event === 'join')
  if (event === 'join') invitations.use(id)
  else if (participants.has(id) && !participants.isNamed(id) && invitations.get(id) === undefined) {
    trust.forget([id])
    kicks.lift(id)
  }
  see(id, trust)
}

/** As if the operator had configured it: whatever it was before, it is that no more. */
function recordMembership(
  id: string,
  { issuedAt, capabilities }: NonNullable<PresencePayload['vouched']>,
  trust: Trust,
): void {
  const { participants, invitations, members } = trust
  const invitation = invitations.get(id)
  invitations.end(id)
  participants.add(id)
  participants.setNamed(id)
  const doubtful = participants.configure(id, capabilities) ? [id] : []
  members.see(id, issuedAt)
  trust.fall((grant) => grant.id === invitation?.id, doubtful)
  see(id, trust)
  trust.changed()
}

/** There is an end to the members who are away. */
function see(id: string, trust: Trust): void {
  const { members, participants } = trust
  const issuedAt = members.issuedAt(id)
  if (issuedAt === undefined) return
  members.see(id, issuedAt)
  trust.forget(members.surplus((member) => participants.isPresent(member)))
}
