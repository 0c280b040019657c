import type { ProposalView } from '@meup/folds'
import { useNow } from '../shared/hooks.js'
import { useSpace } from '../shared/use-space.js'
import { isDecidable } from './is-decidable.js'

/** Open proposals: `mine` can be decided by this reader, who has not done so yet; `others` cannot. */
export interface Pending {
  readonly mine: readonly ProposalView[]
  readonly others: readonly ProposalView[]
}

export function usePending(): Pending {
  const { session, can } = useSpace()
  const open = session.model.pending(useNow(true))
  const mine: ProposalView[] = []
  const others: ProposalView[] = []
  for (const proposal of open) {
    if (!isDecidable(proposal, session, can)) others.push(proposal)
    else if (!session.held.has(proposal.id)) mine.push(proposal)
  }
  return { mine, others }
}
