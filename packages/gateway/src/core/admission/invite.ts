import { randomBytes } from 'node:crypto'
import { type InvitePayload, Kind } from '@meup/protocol'
import { hashOf } from '../state/trust/invitations.js'
import { addToPayload } from './add-to-payload.js'
import type { Admission, AdmissionContext, Outcome } from './context.js'

const tokenBytes = 32

/**
 * Makes the token of an invitation, and adds its hash to what is logged [MEUP-3.15]. Whom the operator has configured has a token already: that is good again.
 */
export function invite(admission: AdmissionContext, { state, config }: Admission): Outcome {
  const { envelope } = admission
  if (envelope.kind !== Kind.spaceInvite) return undefined
  const { participantId } = envelope.payload as InvitePayload
  const url = `/spaces/${config.name}/ws`
  if (state.participants.isNamed(participantId)) {
    admission.invitation = { status: 'readmitted', participantId, token: '', url }
    return undefined
  }
  const token = randomBytes(tokenBytes).toString('base64url')
  addToPayload(admission, { tokenSha256: hashOf(token) })
  admission.invitation = { status: 'created', participantId, token, url }
  return undefined
}
