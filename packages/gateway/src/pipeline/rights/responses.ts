import { correlations, Kind } from '@meup/protocol'
import { forbidden, type Right } from './right.js'

/** A response comes from an addressee of the request, once [MEUP-3.7]. */
export const responseRights: Right = ({ envelope }, space) => {
  if (envelope.kind !== Kind.mcpResponse) return undefined
  for (const id of correlations(envelope)) {
    const refused = space.state.requests.refusal(id, envelope.from)
    if (refused === 'unknown') {
      return { code: 'not_found', path: '/correlationId', message: `no request ${id} waits for an answer` }
    }
    if (refused === 'answered') return forbidden(`${envelope.from} has answered ${id} already`)
    if (refused === 'not addressed') return forbidden(`${id} was not addressed to ${envelope.from}`)
  }
  return undefined
}
