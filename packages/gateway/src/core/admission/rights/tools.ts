import { isNotification } from '@meup/folds'
import { checkMetered, correlations, type Envelope, Kind, type McpProposalPayload } from '@meup/protocol'
import { parseEnvelope } from '../../replay.js'
import { type Call, digestCall } from '../../state/proposals.js'
import type { Admission, AdmissionContext, Refusal } from '../context.js'
import { type Exemption, forbidden, notInFuture, type Right } from './right.js'

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

const notifies = ({ kind, payload }: Envelope): boolean => kind === Kind.mcpRequest && isNotification(payload)

/** Until it has answered, whoever was asked by name tells its caller how that goes [MEUP-3.20]. */
export const reportsOnCall: Exemption = (envelope, { state }) => {
  const { from, payload } = envelope
  const calls = correlations(envelope)
  if (!notifies(envelope) || payload.id !== undefined || calls.length === 0) return false
  return calls.every((id) => {
    const call = state.requests.get(id)
    return call?.to?.has(from) && !call.answeredBy.has(from)
  })
}

/** What a notification says of a call comes from those who were called, for the caller alone, or from the caller [MEUP-3.20]. */
export const notificationRights: Right = ({ envelope }, { state }) => {
  if (!notifies(envelope)) return undefined
  const { from, to = [] } = envelope
  for (const id of correlations(envelope)) {
    const call = state.requests.get(id)
    if (call === undefined) continue
    const wasCalled = call.to?.has(from)
    if (call.from === from && !wasCalled) continue
    if (wasCalled === false) return forbidden(`${id} was not addressed to ${from}: it says nothing of that`)
    if (to.length === 0 || to.some((each) => each !== call.from)) {
      return forbidden(`what is said of ${id} goes to its caller; address ${call.from} alone`, '/to')
    }
  }
  return undefined
}

/** A proposal ends in the future; its proposer withdraws it, and those reject it who could fulfil it [MEUP-3.11]. */
export const proposalRights: Right = (admission, space) => {
  const { envelope, now } = admission
  const { kind, from, payload } = envelope
  if (kind === Kind.mcpProposal) {
    return notInFuture('/payload/expiresAt', (payload as McpProposalPayload).expiresAt, now)
  }
  if (kind !== Kind.mcpWithdraw && kind !== Kind.mcpReject) return undefined
  for (const id of correlations(envelope)) {
    const proposal = space.state.proposals.find(id, now)
    if (proposal === undefined) return notOpen(id)
    const isOwn = proposal.by === from
    if (kind === Kind.mcpReject && isOwn) {
      return forbidden(`${id} is ${from}'s own proposal. Send ${Kind.mcpWithdraw} to take it back.`)
    }
    if (kind === Kind.mcpWithdraw && !isOwn) {
      return forbidden(`Only ${proposal.by} withdraws ${id}. Send ${Kind.mcpReject} to refuse it.`)
    }
    if (kind === Kind.mcpReject && !proposal.rejectedBy.has(from) && !couldFulfil(id, admission, space)) {
      return forbidden(
        `${from} may not send what ${id} proposes, and so cannot refuse it. Leave it to others.`,
      )
    }
  }
  return undefined
}

/** Bytes of a proposal that are parsed in about a microsecond. */
const bytesPerUnit = 200

/** Nobody speaks for those who decide. */
function couldFulfil(id: string, { sender, meter }: AdmissionContext, { ids, state }: Admission): boolean {
  const entry = ids.findEntry(id)
  if (entry === undefined) return false
  meter.charge(entry.body.length / bytesPerUnit, 'proposals to read')
  const { to, context, payload } = parseEnvelope(entry)
  const { method, params } = payload
  const fulfilment = {
    kind: Kind.mcpRequest,
    payload: { method, ...(params !== undefined && { params }) },
    ...(to && { to }),
    ...(context !== undefined && { context }),
  }
  return checkMetered(meter, () => state.participants.allows(sender.participant, fulfilment))
}

const notOpen = (id: string): Refusal => ({
  code: 'proposal_not_found',
  path: '/correlationId',
  message: `no proposal ${id} is open: it was used up or withdrawn, has expired, or never was`,
})

/** A request that fulfils a proposal asks for exactly what was proposed, while that is open [MEUP-4.17]. */
export const fulfilmentRights: Right = ({ envelope, payload, now }, space) => {
  if (envelope.kind !== Kind.mcpRequest || envelope.correlationId === undefined) return undefined
  let call: Call | undefined
  for (const id of correlations(envelope)) {
    const proposal = space.state.proposals.find(id, now)
    if (proposal === undefined) {
      if (space.ids.findOrigin(id)?.kind === Kind.mcpProposal) return notOpen(id)
      continue
    }
    if (proposal.rejectedBy.has(envelope.from)) {
      return forbidden(`${envelope.from} has rejected ${id}. Leave it to others.`)
    }
    call ??= digestCall(envelope, payload)
    const differing = differences(call, proposal.call).join(' and ')
    if (differing !== '') return forbidden(`${id} proposes another ${differing}. Send what was proposed.`)
  }
  return undefined
}

const parts = ['method', 'params', 'to'] as const

const differences = (one: Call, other: Call): string[] => parts.filter((part) => one[part] !== other[part])
