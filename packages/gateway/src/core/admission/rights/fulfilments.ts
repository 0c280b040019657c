import { correlations, Kind } from '@meup/protocol'
import { type Call, callOf } from '../../state/proposals.js'
import { notOpen } from './proposals.js'
import { forbidden, type Right } from './right.js'

/** A request that fulfils a proposal asks for exactly what was proposed, while that is open [MEUP-4.17]. */
export const fulfilmentRights: Right = ({ envelope, payload, now }, space) => {
  if (envelope.kind !== Kind.mcpRequest || envelope.correlationId === undefined) return undefined
  let call: Call | undefined
  for (const id of correlations(envelope)) {
    const proposal = space.state.proposals.find(id, now)
    if (proposal === undefined) {
      if (space.ids.originOf(id)?.kind === Kind.mcpProposal) return notOpen(id)
      continue
    }
    if (proposal.rejectedBy.has(envelope.from)) {
      return forbidden(`${envelope.from} has rejected ${id}; leave it to others`)
    }
    call ??= callOf(envelope, payload)
    const differing = differences(call, proposal.call).join(' and ')
    if (differing !== '') return forbidden(`${id} proposes another ${differing}; send what was proposed`)
  }
  return undefined
}

const parts = ['method', 'params', 'to'] as const

const differences = (one: Call, other: Call): string[] => parts.filter((part) => one[part] !== other[part])
