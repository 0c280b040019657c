import type { Configuration, LoggedInvite, LoggedRevoke } from '@meup/folds'
import {
  Coverage,
  correlations,
  type Envelope,
  type GrantAckPayload,
  type GrantPayload,
  GUEST,
  type KickPayload,
  Kind,
  type PresencePayload,
  type RevokePayload,
  type WorkMeter,
} from '@meup/protocol'
import type { HeldGrant, Trust } from './trust.js'

/** The effect of each kind on trust; other kinds have none. */
const effects: ReadonlyMap<string, (envelope: Envelope, trust: Trust) => void> = new Map([
  [Kind.systemSpace, configure],
  [Kind.systemPresence, presence],
  [Kind.capabilityGrant, (envelope, trust) => give(envelope, envelope.payload as GrantPayload, trust)],
  [Kind.capabilityRevoke, revoke],
  [Kind.capabilityGrantAck, acknowledge],
  [Kind.spaceInvite, invite],
  [Kind.spaceKick, kick],
] satisfies [string, (envelope: Envelope, trust: Trust) => void][])

/** Applies an envelope of the log to trust. Call it after removing what expired before the envelope. */
export function applyToTrust(envelope: Envelope, trust: Trust): void {
  const { revision } = trust
  effects.get(envelope.kind)?.(envelope, trust)
  if (trust.revision !== revision) trust.changedAt = envelope.seq ?? 0
}

function give({ id, from: grantor }: Envelope, given: GrantPayload, trust: Trust): void {
  const { recipient, capabilities, expiresAt } = given
  trust.grant({ id, grantor, recipient, capabilities, ...until('expiresAt', expiresAt) })
}

function revoke(revocation: Envelope, trust: Trust): void {
  const revoked = revokedBy(revocation, trust)
  trust.fall(({ id }) => revoked.has(id))
}

/** Removes a declined grant. */
function acknowledge(answer: Envelope, trust: Trust): void {
  if ((answer.payload as GrantAckPayload).status !== 'declined') return
  const declined = correlations(answer)
  trust.fall(({ id }) => declined.includes(id))
}

/**
 * Lifts a kick. A participant that the operator has not configured starts with this token and the grants of the invitation
 * only: earlier grants of others do not pass to someone whom only the inviter knows.
 */
function invite(envelope: Envelope, trust: Trust): void {
  const { participantId, tokenSha256 = '', ...given } = envelope.payload as LoggedInvite
  const { participants, invitations, kicks } = trust
  kicks.lift(participantId)
  if (!participants.isNamed(participantId)) {
    participants.add(participantId)
    trust.fall(({ recipient }) => recipient === participantId)
    const end = until('expiresAt', given.expiresAt)
    invitations.add({ participant: participantId, id: envelope.id, tokenSha256, isUsed: false, ...end })
  }
  give(envelope, { ...given, recipient: participantId }, trust)
}

function kick({ from: by, seq: at = 0, payload }: Envelope, trust: Trust): void {
  const { participantId, reason, untilTs } = payload as KickPayload
  const { participants, kicks } = trust
  kicks.add(participantId, { by, at, ...(reason && { reason }), ...until('until', untilTs) })
  kicks.forget((id) => participants.has(id))
  trust.changed()
}

/** A time from an envelope as a field in milliseconds since the epoch; `{}` without a time. */
function until<Name extends string>(name: Name, time: string | undefined): { [Key in Name]?: number } {
  return time === undefined ? {} : ({ [name]: Date.parse(time) } as { [Key in Name]: number })
}

/**
 * Sets the configured participants to exactly those of the record; an invited one among them becomes configured. Guests stay
 * known while present, and members of an issuer regardless of the record.
 */
function configure({ payload }: Envelope, trust: Trust): void {
  if (payload.event !== 'configured') return
  const { participants: named, guest } = payload as unknown as Configuration
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

/** Guests are known while present. Joining or leaving after removal does not make a participant known again. */
function presence({ payload }: Envelope, trust: Trust): void {
  const { event, participant, vouched, program, ended } = payload as PresencePayload
  const { id, capabilities = [] } = participant
  const { participants, invitations, kicks } = trust
  if (vouched !== undefined) recordMembership(id, vouched, trust)
  if (program !== undefined) participants.setProgram(id, program)
  if (event === 'update') {
    if (ended?.what === 'grant') trust.markEndAnnounced(ended.id)
    if (participant.capabilities !== undefined) trust.markNotified(id)
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

/**
 * Records a participant that an issuer's token has created. From here on it is treated like a configured one, even if it was
 * invited before.
 */
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

/** Marks a member as seen, and forgets members that have been away longest. */
function see(id: string, trust: Trust): void {
  const { members, participants } = trust
  const issuedAt = members.issuedAt(id)
  if (issuedAt === undefined) return
  members.see(id, issuedAt)
  trust.forget(members.surplus((member) => participants.isPresent(member)))
}

/** The open grants that a revocation names, by any grantor. */
export function namedIn(
  { recipient, grantId, capabilities = [] }: RevokePayload,
  { grants }: Trust,
  meter?: WorkMeter,
): HeldGrant[] {
  if (grantId === undefined) {
    const coverage = new Coverage()
    const held = [capabilities]
    return grants.to(recipient).filter((grant) => coverage.firstGap(held, grant.capabilities, meter) === -1)
  }
  const grant = grants.get(grantId)
  return grant?.recipient === recipient ? [grant] : []
}

/** The named grants that the sender may revoke: its own, or all if the operator permits it [MEUP-4.15]. */
export function revocable(
  named: readonly HeldGrant[],
  revocation: Envelope,
  trust: Trust,
): readonly HeldGrant[] {
  const { from } = revocation
  if (trust.participants.allowsByConfiguration(from, revocation)) return named
  return named.filter(({ grantor }) => grantor === from)
}

/** Ids of the grants that a logged revocation takes back. */
function revokedBy(revocation: Envelope, trust: Trust): ReadonlySet<string> {
  const payload = revocation.payload as LoggedRevoke
  const found = payload.revoked ?? revocable(namedIn(payload, trust), revocation, trust).map(({ id }) => id)
  return new Set(found)
}
