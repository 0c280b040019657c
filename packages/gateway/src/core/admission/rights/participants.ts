import { type InvitePayload, imitatedBy, type KickPayload, type WorkMeter } from '@meup/protocol'
import type { SpaceState } from '../../state/state.js'
import { forbidden, notInFuture, type Refusal, type Right, setByGateway } from '../context.js'
import { checkGift, firstBeyond, stranger } from './capabilities.js'

const maxOpenInvitations = 1000

/** An invitation grants at most what the inviter holds [MEUP-3.15]. */
export const invitationRights: Right = ({ envelope, now, meter }, { state }) => {
  if (Object.hasOwn(envelope.payload, 'tokenSha256')) return setByGateway('/payload/tokenSha256')
  const { participantId: to, ...given } = envelope.payload as InvitePayload
  const existing = state.participants.isNamed(to) ? state.participants.granted(to) : []
  return (
    checkInvitedName(to, state) ??
    checkGift({ ...given, from: envelope.from, to, path: name, existing }, now, state, meter) ??
    checkInviterHoldings(envelope.from, to, state, meter)
  )
}

const name = '/payload/participantId'

/** A participant of the space is not invited again, unless it was kicked or never joined. */
function checkInvitedName(id: string, { participants, trust }: SpaceState): Refusal | undefined {
  const { invitations, kicks } = trust
  const imitated = participants.has(id) ? undefined : imitatedBy(id, participants.ids())
  if (imitated !== undefined)
    return forbidden(`${id} could be mistaken for ${imitated}. Choose another name.`, name)
  const invitation = invitations.get(id)
  if (participants.has(id) && kicks.get(id) === undefined && invitation?.isUsed !== false) {
    return forbidden(`${id} is already a member of the space. Grant it capabilities instead.`, name)
  }
  const isOneMore = invitation === undefined && !participants.isNamed(id)
  if (!isOneMore || invitations.size < maxOpenInvitations) return undefined
  return forbidden(
    `This space already has ${maxOpenInvitations} open invitations. Wait until some are used or expire.`,
  )
}

/**
 * Refuses an inviter that does not hold all capabilities of the invited name, because its new holder can read envelopes
 * addressed to the name.
 */
function checkInviterHoldings(
  inviter: string,
  id: string,
  state: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  const { participants } = state
  const heldSets = [participants.configured(id), participants.granted(id)]
  if (heldSets.every((held) => firstBeyond(inviter, held, state, meter) === -1)) return undefined
  const message = `${id} has more capabilities than ${inviter}. Ask a participant with as many to invite it.`
  return { code: 'grant_exceeds_own', path: '/payload/participantId', message }
}

/** A participant cannot kick itself, so that the last one with this right remains. */
export const kickRights: Right = ({ envelope, now }, { state }) => {
  const { participantId, untilTs } = envelope.payload as KickPayload
  if (participantId === envelope.from) {
    const message = `${participantId} cannot kick itself. Close the connection to leave.`
    return forbidden(message, '/payload/participantId')
  }
  if (!state.participants.has(participantId)) return stranger('/payload/participantId', participantId)
  return notInFuture('/payload/untilTs', untilTs, now)
}

/** A paused participant cannot resume itself, so it may pause itself only with a timeout [MEUP-3.13]. */
export const pauseRights: Right = ({ envelope: { from, to, payload } }) => {
  if (payload.timeoutSeconds !== undefined) return undefined
  const own = to?.indexOf(from) ?? -1
  if (own === -1) return undefined
  return forbidden(`${from} cannot resume itself. Leave it out, or set timeoutSeconds.`, `/to/${own}`)
}
