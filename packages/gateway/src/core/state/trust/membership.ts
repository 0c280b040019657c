import { type Capability, GUEST, type PresencePayload } from '@meup/protocol'
import type { Trust } from './trust.js'

/** What `system.space configured` says of participants. */
interface Configuration {
  readonly participants: Readonly<Record<string, { readonly capabilities: readonly Capability[] }>>
  readonly guest?: { readonly capabilities: readonly Capability[] }
}

/** Takes what `system.space` records. */
export function configure(record: Readonly<Record<string, unknown>>, trust: Trust): void {
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
export function presence(
  { event, participant: { id, capabilities = [] }, vouched }: PresencePayload,
  trust: Trust,
): void {
  const { participants, invitations, kicks } = trust
  if (vouched !== undefined) recordMembership(id, vouched, trust)
  if (event === 'update') {
    trust.told(id)
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
