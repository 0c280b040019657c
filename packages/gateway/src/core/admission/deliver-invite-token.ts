import { inviteAckFrame } from '../delivery/frames.js'
import { messageFrom } from '../delivery/outbound-batch.js'
import type { Admission, AdmissionContext, Outcome } from './context.js'

/**
 * Gives the token of an invitation to its sender alone, once the log has the invitation [MEUP-3.15]: on the line that it
 * came by, after the echo; or where there is none, with the receipt.
 */
export function deliverInviteToken(
  { envelope, sender, invitation, now }: AdmissionContext,
  space: Admission,
): Outcome {
  if (invitation === undefined) return undefined
  const { id, seq = 0 } = envelope
  const ack = inviteAckFrame(sender.participant, space.timestamp(now), invitation, id)
  void space.committed(seq).then((isLogged) => {
    if (isLogged) sender.reply(messageFrom(ack))
  })
  return { answered: true, id, seq, invitation }
}
