import { correlations, type GrantPayload, Kind } from '@meup/protocol'
import type { Refusal } from '../context.js'
import { giftRefusal } from './giving.js'
import { forbidden, type Right } from './right.js'

/** Capabilities are given to those who belong to the space, by those who hold them [MEUP-4.13]. */
export const grantRights: Right = ({ envelope, now, meter }, { state }) => {
  if (envelope.kind !== Kind.capabilityGrant) return undefined
  const { recipient, ...given } = envelope.payload as GrantPayload
  if (!state.participants.has(recipient)) return stranger('/payload/recipient', recipient)
  const beside = state.participants.granted(recipient)
  return giftRefusal(
    { ...given, from: envelope.from, to: recipient, path: '/payload/recipient', beside },
    now,
    state,
    meter,
  )
}

/** A grant is answered by whom it was given to. */
export const answerRights: Right = ({ envelope }, { state }) => {
  if (envelope.kind !== Kind.capabilityGrantAck) return undefined
  for (const id of correlations(envelope)) {
    const grant = state.trust.grants.get(id)
    if (grant === undefined) {
      const message = `no grant ${id} stands: it was revoked or declined, has expired, or never was`
      return { code: 'not_found', path: '/correlationId', message }
    }
    if (grant.recipient !== envelope.from) return forbidden(`${id} was granted to ${grant.recipient}`)
  }
  return undefined
}

export const stranger = (path: string, id: string): Refusal => ({
  code: 'participant_not_found',
  path,
  message: `the space knows no ${id}; name one of the participants of the welcome`,
})
