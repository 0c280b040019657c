import { type KickPayload, Kind } from '@meup/protocol'
import { explainKick } from '../../space/trust/kicks.js'
import { checkBody } from '../validate.js'
import { notInFuture } from './future.js'
import { stranger } from './grants.js'
import { forbidden, type Right } from './right.js'

/** Whoever was kicked does nothing more, on whichever line: before its connections are closed, too [MEUP-3.14]. */
export const kickedOut: Right = ({ sender }, { state }) => {
  const kick = state.trust.kicks.get(sender.participant)
  return kick && forbidden(explainKick(kick))
}

/** Everybody but oneself can be kicked: so the last who may do that stays. */
export const kickRights: Right = ({ envelope, now }, { state }) => {
  if (envelope.kind !== Kind.spaceKick) return undefined
  const malformed = checkBody(envelope)
  if (malformed !== undefined) return malformed
  const { participantId, untilTs } = envelope.payload as KickPayload
  if (participantId === envelope.from) {
    const message = `${participantId} cannot kick itself; close the connection to leave`
    return forbidden(message, '/payload/participantId')
  }
  if (!state.participants.has(participantId)) return stranger('/payload/participantId', participantId)
  return notInFuture('/payload/untilTs', untilTs, now)
}
