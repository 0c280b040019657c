import { Kind, type RevokePayload } from '@meup/protocol'
import { namedIn, revocable } from '../../state/trust/revocation.js'
import { chargeRows } from '../work.js'
import { patternRefusal } from './giving.js'
import { type Exemption, forbidden, type Right, setByGateway } from './right.js'

/** Grantors take back what they gave, and need no capability for it [MEUP-4.15]. */
export const revokesOwn: Exemption = ({ kind, from, payload }, { state }) => {
  if (kind !== Kind.capabilityRevoke) return false
  const { recipient, grantId } = payload as Partial<RevokePayload>
  if (grantId !== undefined) return state.trust.grants.get(grantId)?.grantor === from
  return state.trust.grants.list().some((each) => each.grantor === from && each.recipient === recipient)
}

/** Others revoke what they did not give where the operator lets them; what was granted gives no such power. */
export const revocationRights: Right = (admission, { state }) => {
  const { envelope, meter } = admission
  if (envelope.kind !== Kind.capabilityRevoke) return undefined
  if (Object.hasOwn(envelope.payload, 'revoked')) return setByGateway('/payload/revoked')
  const payload = envelope.payload as RevokePayload
  const badPattern = patternRefusal(payload.capabilities ?? [], meter)
  if (badPattern !== undefined) return badPattern
  chargeRows(meter, state.trust.grants.size, 'grants to look at')
  const named = namedIn(payload, state.trust, meter)
  admission.revoked = revocable(named, envelope, state.trust)
  if (admission.revoked.length > 0) return undefined
  const { recipient, grantId } = payload
  const [grant] = named
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
