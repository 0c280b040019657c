import { Kind, type RevokePayload } from '@meup/protocol'
import { namedIn, revokedBy } from '../../space/trust/revocation.js'
import { checkBody } from '../validate.js'
import { patternRefusal } from './giving.js'
import { type Exemption, forbidden, type Right } from './right.js'

/** Grantors take back what they gave, and need no capability for it [MEUP-4.15]. */
export const revokesOwn: Exemption = ({ kind, from, payload }, { state }) => {
  if (kind !== Kind.capabilityRevoke) return false
  const { recipient, grantId } = payload as Partial<RevokePayload>
  if (grantId !== undefined) return state.trust.grants.get(grantId)?.grantor === from
  return state.trust.grants.list().some((each) => each.grantor === from && each.recipient === recipient)
}

/** Others revoke what they did not give where the operator lets them; what was granted gives no such power. */
export const revocationRights: Right = ({ envelope }, { state }) => {
  if (envelope.kind !== Kind.capabilityRevoke) return undefined
  const malformed = checkBody(envelope)
  if (malformed !== undefined) return malformed
  const payload = envelope.payload as RevokePayload
  const badPattern = patternRefusal(payload.capabilities ?? [])
  if (badPattern !== undefined) return badPattern
  if (revokedBy(envelope, state.trust).length > 0) return undefined
  const { recipient, grantId } = payload
  const [grant] = namedIn(payload, state.trust)
  if (grantId !== undefined && grant !== undefined) {
    return forbidden(`${grantId} is revoked by ${grant.grantor}, or by whom the operator lets revoke`)
  }
  const what = grantId === undefined ? 'no grant with only such capabilities' : `no grant ${grantId}`
  const message = `${what} stands for ${recipient} that ${envelope.from} may revoke; it may have fallen already`
  return {
    code: 'not_found',
    path: `/payload/${grantId === undefined ? 'capabilities' : 'grantId'}`,
    message,
  }
}
