import { messageFrom } from '../outbox/parcel.js'
import { inviteAckFrame } from '../space/frames.js'
import type { Admission, Outcome, Passage } from './passage.js'

/**
 * Gives the token of an invitation to its sender alone, once the log has the invitation [MEUP-3.15]: on the line that it
 * came by, after the echo; or where there is none, with the receipt.
 */
export function entrust({ envelope, sender, invitation, now }: Passage, space: Admission): Outcome {
  if (invitation === undefined) return undefined
  const { id, seq = 0 } = envelope
  const ack = inviteAckFrame(sender.participant, space.timestamp(now), invitation, id)
  void space.committed(seq).then((isLogged) => {
    if (isLogged) sender.reply(messageFrom(ack))
  })
  return { answered: true, id, seq, invitation }
}
