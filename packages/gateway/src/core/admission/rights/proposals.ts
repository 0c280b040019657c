import { checkMetered, correlations, Kind, type McpProposalPayload } from '@meup/protocol'
import { forbidden, notInFuture } from '../../refusal.js'
import { texts } from '../../refusal-texts.js'
import { type CallDigests, digestCall } from '../../state/calls.js'
import type { Admission, AdmissionContext, Right } from '../admission-context.js'
import { checkRoom, notOpen, readProposed } from '../proposed.js'

/** A proposal expires in the future [MEUP-3.11] and leaves room for its approval [MEUP-4.20]. */
export const proposalRights: Right = (admission, space) => {
  const { expiresAt } = admission.envelope.payload as McpProposalPayload
  return notInFuture('/payload/expiresAt', expiresAt, admission.now) ?? checkRoom(admission, space)
}

/** Only the proposer withdraws a proposal [MEUP-3.11]. */
export const withdrawalRights: Right = ({ envelope, now }, { state }) => {
  for (const id of correlations(envelope)) {
    const proposal = state.calls.proposal(id, now)
    if (proposal === undefined) return notOpen(id)
    if (proposal.from === envelope.from) continue
    return forbidden(texts.othersProposal, { proposer: proposal.from, id })
  }
  return undefined
}

/** A participant that could fulfil a proposal may reject it, except the proposer [MEUP-3.11]. */
export const rejectionRights: Right = (admission, space) => {
  const { envelope, now } = admission
  const { from } = envelope
  for (const id of correlations(envelope)) {
    const proposal = space.state.calls.proposal(id, now)
    if (proposal === undefined) return notOpen(id)
    if (proposal.from === from) return forbidden(texts.ownProposal, { id, from })
    if (!proposal.rejectedBy.includes(from) && !couldFulfil(id, admission, space))
      return forbidden(texts.incapableRejection, { from, id })
  }
  return undefined
}

/** Whether the sender itself holds the right to make the proposed call. */
function couldFulfil(id: string, { sender, meter }: AdmissionContext, { ids, state }: Admission): boolean {
  const entry = ids.findEntry(id)
  if (entry === undefined) return false
  const request = readProposed(entry, meter)
  return checkMetered(meter, (budget) => state.participants.allows(sender.participant, request, budget))
}

/** A request that fulfils a proposal asks for exactly what was proposed, while the proposal is open [MEUP-4.17]. */
export const fulfilmentRights: Right = ({ envelope, payload, now }, space) => {
  if (envelope.correlationId === undefined) return undefined
  let call: CallDigests | undefined
  for (const id of correlations(envelope)) {
    const proposal = space.state.calls.proposal(id, now)
    if (proposal === undefined) {
      if (space.ids.findOrigin(id)?.kind === Kind.mcpProposal) return notOpen(id)
      continue
    }
    if (proposal.rejectedBy.includes(envelope.from))
      return forbidden(texts.rejectedBefore, { from: envelope.from, id })
    call ??= digestCall(envelope, payload)
    const differing = differences(call, proposal.data).join(' and ')
    if (differing !== '') return forbidden(texts.otherCall, { id, parts: differing })
  }
  return undefined
}

const parts = ['method', 'params', 'to'] as const

const differences = (one: CallDigests, other: CallDigests): string[] =>
  parts.filter((part) => one[part] !== other[part])
