import { type KickPayload, Kind } from '@meup/protocol'
import { notInFuture } from './future.js'
import { stranger } from './grants.js'
import { forbidden, type Right } from './right.js'

/** Everybody but oneself can be kicked: so the last who may do that stays. */
export const kickRights: Right = ({ envelope, now }, { state }) => {
  if (envelope.kind !== Kind.spaceKick) return undefined
  const { participantId, untilTs } = envelope.payload as KickPayload
  if (participantId === envelope.from) {
    const message = `${participantId} cannot kick itself; close the connection to leave`
    return forbidden(message, '/payload/participantId')
  }
  if (!state.participants.has(participantId)) return stranger('/payload/participantId', participantId)
  return notInFuture('/payload/untilTs', untilTs, now)
}
