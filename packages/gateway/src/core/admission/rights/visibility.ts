import { checkMetered, Kind, type VisibilityPayload } from '@meup/protocol'
import { type Exemption, forbidden, type Right } from './right.js'

/** The owner of a run needs no capability to hide or show it; for others see `visibilityRights`. */
export const decidesVisibility: Exemption = ({ kind }) => kind === Kind.observeVisibility

/** A run is hidden and shown while it goes on, by its owner or a holder of the capability for that [MEUP-9.5]. */
export const visibilityRights: Right = ({ envelope, meter }, { state }) => {
  if (envelope.kind !== Kind.observeVisibility) return undefined
  const { from, to, payload } = envelope
  if (to !== undefined) {
    return {
      code: 'invalid_envelope',
      path: '/to',
      message: 'a run is shown or hidden for all; leave `to` out',
    }
  }
  const { context } = payload as VisibilityPayload
  const run = state.contexts.get(context)
  if (run?.state !== 'open') {
    return { code: 'run_not_active', path: '/payload/context', message: 'run not active' }
  }
  if (run.owner === from || checkMetered(meter, () => state.participants.allows(from, envelope)))
    return undefined
  return forbidden(`only its owner hides or shows ${context} without the capability ${envelope.kind}`)
}
