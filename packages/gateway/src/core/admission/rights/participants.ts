import { type InvitePayload, imitatedBy, type KickPayload, type WorkMeter } from '@meup/protocol'
import {
  forbidden,
  notInFuture,
  type Refusal,
  refuse,
  setByGateway,
  unknownParticipant,
} from '../../refusal.js'
import { texts } from '../../refusal-texts.js'
import type { SpaceState } from '../../state/state.js'
import type { Right } from '../admission-context.js'
import { checkGift, firstBeyond } from './capabilities.js'

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
  if (imitated !== undefined) return forbidden(texts.imitatedName, { id, other: imitated }, name)
  const invitation = invitations.get(id)
  if (participants.has(id) && kicks.get(id) === undefined && invitation?.isUsed !== false)
    return forbidden(texts.memberAlready, { id }, name)
  const isOneMore = invitation === undefined && !participants.isNamed(id)
  if (!isOneMore || invitations.size < maxOpenInvitations) return undefined
  return forbidden(texts.openInvitations, { invitations: maxOpenInvitations })
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
  return refuse('grant_exceeds_own', texts.moreCapable, { id, inviter }, { path: name })
}

/** A participant cannot kick itself, so that the last one with this right remains. */
export const kickRights: Right = ({ envelope, now }, { state }) => {
  const { participantId, untilTs } = envelope.payload as KickPayload
  if (participantId === envelope.from) return forbidden(texts.ownKick, { id: participantId }, name)
  if (!state.participants.has(participantId)) return unknownParticipant(name, participantId)
  return notInFuture('/payload/untilTs', untilTs, now)
}

/** A paused participant cannot resume itself, so it may pause itself only with a timeout [MEUP-3.13]. */
export const pauseRights: Right = ({ envelope: { from, to, payload } }) => {
  if (payload.timeoutSeconds !== undefined) return undefined
  const own = to?.indexOf(from) ?? -1
  if (own === -1) return undefined
  return forbidden(texts.ownPause, { id: from }, `/to/${own}`)
}
