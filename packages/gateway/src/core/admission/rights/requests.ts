import { isElicitation, isNotification } from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'
import { forbidden, refuse } from '../../refusal.js'
import { texts } from '../../refusal-texts.js'
import type { Exemption, Right } from '../admission-context.js'

/** An addressee of a request may answer it without a capability [MEUP-3.7]. */
export const answersAddressed: Exemption = (envelope, { state }) =>
  envelope.kind === Kind.mcpResponse &&
  correlations(envelope).every((id) => state.calls.request(id)?.to?.includes(envelope.from))

/** Only an addressee of the request responds, once [MEUP-3.7]. */
export const responseRights: Right = ({ envelope }, { state }) => {
  const { from } = envelope
  for (const id of correlations(envelope)) {
    const request = state.calls.request(id)
    if (request === undefined)
      return refuse('not_found', texts.unknownRequest, { id }, { path: '/correlationId' })
    if (request.to?.includes(from) === false)
      return forbidden(texts.notAddressed, { id, from, may: 'answer it' })
    if (request.answeredBy.includes(from)) return forbidden(texts.answeredAlready, { from, id })
  }
  return undefined
}

const notifies = ({ kind, payload }: Envelope): boolean => kind === Kind.mcpRequest && isNotification(payload)

/** An addressee may report progress to the caller until it has responded [MEUP-3.20]. */
export const reportsOnCall: Exemption = (envelope, { state }) => {
  const { from, payload } = envelope
  const calls = correlations(envelope)
  if (!notifies(envelope) || payload.id !== undefined || calls.length === 0) return false
  return calls.every((id) => {
    const call = state.calls.request(id)
    return call?.to?.includes(from) && !call.answeredBy.includes(from)
  })
}

/** A notification about a call comes from an addressee, for the caller only, or from the caller [MEUP-3.20]. */
export const notificationRights: Right = ({ envelope }, { state }) => {
  if (!notifies(envelope)) return undefined
  const { from, to = [] } = envelope
  for (const id of correlations(envelope)) {
    const call = state.calls.request(id)
    if (call === undefined) continue
    const wasCalled = call.to?.includes(from)
    if (call.from === from && !wasCalled) continue
    if (wasCalled === false)
      return forbidden(texts.notAddressed, { id, from, may: 'send notifications about it' })
    if (to.length === 0 || to.some((each) => each !== call.from))
      return forbidden(texts.callerOnly, { what: 'A notification', id, caller: call.from }, '/to')
  }
  return undefined
}

/** An elicitation about a call comes from an addressee that has not responded, for the caller only [MEUP-3.26]. */
export const elicitationRights: Right = ({ envelope }, { state }) => {
  const { from, to = [], payload } = envelope
  if (!isElicitation(payload)) return undefined
  for (const id of correlations(envelope)) {
    const call = state.calls.request(id)
    if (call === undefined) continue
    if (call.to?.includes(from) !== true)
      return forbidden(texts.notAddressed, { id, from, may: 'send elicitations about it' })
    if (call.answeredBy.includes(from)) return forbidden(texts.answeredAlready, { from, id })
    if (to.length !== 1 || to[0] !== call.from)
      return forbidden(texts.callerOnly, { what: 'An elicitation', id, caller: call.from }, '/to')
  }
  return undefined
}
