import { checkMetered, correlations, Kind, type McpProposalPayload } from '@meup/protocol'
import { envelopeOf } from '../../replay.js'
import type { Admission, AdmissionContext, Refusal } from '../context.js'
import { notInFuture } from './future.js'
import { forbidden, type Right } from './right.js'

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
      return forbidden(`${id} is ${from}'s own proposal; send ${Kind.mcpWithdraw} to take it back`)
    }
    if (kind === Kind.mcpWithdraw && !isOwn) {
      return forbidden(`only ${proposal.by} withdraws ${id}; send ${Kind.mcpReject} to refuse it`)
    }
    if (kind === Kind.mcpReject && !proposal.rejectedBy.has(from) && !couldFulfil(id, admission, space)) {
      return forbidden(
        `${from} may not send what ${id} proposes, and so cannot refuse it; leave it to others`,
      )
    }
  }
  return undefined
}

/** Bytes of a proposal that are parsed in about a microsecond. */
const bytesPerUnit = 200

/** Nobody speaks for those who decide. */
function couldFulfil(id: string, { sender, meter }: AdmissionContext, { ids, state }: Admission): boolean {
  const entry = ids.entryOf(id)
  if (entry === undefined) return false
  meter.charge(entry.body.length / bytesPerUnit, 'proposals to read')
  const { to, context, payload } = envelopeOf(entry)
  const { method, params } = payload
  const fulfilment = {
    kind: Kind.mcpRequest,
    payload: { method, ...(params !== undefined && { params }) },
    ...(to && { to }),
    ...(context !== undefined && { context }),
  }
  return checkMetered(meter, () => state.participants.allows(sender.participant, fulfilment))
}

export const notOpen = (id: string): Refusal => ({
  code: 'proposal_not_found',
  path: '/correlationId',
  message: `no proposal ${id} is open: it was used up or withdrawn, has expired, or never was`,
})
