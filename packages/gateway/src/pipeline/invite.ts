import { randomBytes } from 'node:crypto'
import { type InvitePayload, Kind } from '@meup/protocol'
import { hashOf } from '../space/trust/invitations.js'
import { encode } from './encode.js'
import type { Admission, Outcome, Passage } from './passage.js'

const tokenBytes = 32

/**
 * Makes the token of an invitation, and adds its hash to what is logged [MEUP-3.15]. A retry repeats what was sent,
 * without it. Whom the operator has configured has a token already: that is good again.
 */
export function invite(passage: Passage, { state, config }: Admission): Outcome {
  const { envelope, payload, encoded } = passage
  if (envelope.kind !== Kind.spaceInvite) return undefined
  const { participantId } = envelope.payload as InvitePayload
  const url = `/spaces/${config.name}/ws`
  if (state.participants.isNamed(participantId)) {
    passage.invitation = { status: 'readmitted', participantId, token: '', url }
    return undefined
  }
  const token = randomBytes(tokenBytes).toString('base64url')
  const tokenSha256 = hashOf(token)
  envelope.payload = { ...envelope.payload, tokenSha256 }
  passage.payload = Buffer.concat([payload.subarray(0, -1), Buffer.from(`,"tokenSha256":"${tokenSha256}"}`)])
  passage.encoded = { body: encode(envelope, passage.payload).body, content: encoded.content }
  passage.invitation = { status: 'created', participantId, token, url }
  return undefined
}
