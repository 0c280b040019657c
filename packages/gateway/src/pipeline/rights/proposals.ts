import { correlations, Kind } from '@meup/protocol'
import type { Refusal } from '../passage.js'
import { notInFuture } from './future.js'
import { forbidden, type Right } from './right.js'

/** A proposal ends in the future; its proposer withdraws it, and others reject it [MEUP-3.11]. */
export const proposalRights: Right = ({ envelope, now }, { state }) => {
  const { kind, from, payload } = envelope
  if (kind === Kind.mcpProposal) {
    const { expiresAt } = payload
    // Whether it is a time at all is checked with the rest of the payload.
    return typeof expiresAt === 'string' ? notInFuture('/payload/expiresAt', expiresAt, now) : undefined
  }
  if (kind !== Kind.mcpWithdraw && kind !== Kind.mcpReject) return undefined
  for (const id of correlations(envelope)) {
    const proposal = state.proposals.find(id, now)
    if (proposal === undefined) return notOpen(id)
    const isOwn = proposal.by === from
    if (kind === Kind.mcpReject && isOwn) {
      return forbidden(`${id} is ${from}'s own proposal; send ${Kind.mcpWithdraw} to take it back`)
    }
    if (kind === Kind.mcpWithdraw && !isOwn) {
      return forbidden(`only ${proposal.by} withdraws ${id}; send ${Kind.mcpReject} to refuse it`)
    }
  }
  return undefined
}

export const notOpen = (id: string): Refusal => ({
  code: 'proposal_not_found',
  path: '/correlationId',
  message: `no proposal ${id} is open: it was used up or withdrawn, has expired, or never was`,
})
