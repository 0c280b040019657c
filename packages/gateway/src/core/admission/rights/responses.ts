import { correlations, Kind } from '@meup/protocol'
import { type Exemption, forbidden, type Right } from './right.js'

/** Whoever was asked by name answers, whatever it may send otherwise: nobody is left waiting [MEUP-3.7]. */
export const answersAddressed: Exemption = (envelope, { state }) =>
  envelope.kind === Kind.mcpResponse &&
  correlations(envelope).every((id) => state.requests.get(id)?.to?.has(envelope.from))

/** A response comes from an addressee of the request, once [MEUP-3.7]. */
export const responseRights: Right = ({ envelope }, { state }) => {
  const { kind, from } = envelope
  if (kind !== Kind.mcpResponse) return undefined
  for (const id of correlations(envelope)) {
    const request = state.requests.get(id)
    if (request === undefined) {
      return { code: 'not_found', path: '/correlationId', message: `no request ${id} waits for an answer` }
    }
    if (request.to?.has(from) === false) return forbidden(`${id} was not addressed to ${from}`)
    if (request.answeredBy.has(from)) return forbidden(`${from} has answered ${id} already`)
  }
  return undefined
}
