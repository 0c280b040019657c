import type { HttpClient } from '@meup/agent-sdk/http'
import {
  defaultGuard,
  isOpenProposal,
  Participants,
  type ProposalView,
  ProposalViews,
  proposalKinds,
  SpaceView,
} from '@meup/folds'
import { Kind, ProtocolError } from '@meup/protocol'
import { findByPrefix } from './options.js'
import { formatOutcome } from './proposal-text.js'

/** Reads all proposals of a space from its log, oldest first. `answers`: also read the results of approved ones. */
export async function readProposals(http: HttpClient, { answers = false } = {}): Promise<ProposalView[]> {
  const view = new SpaceView({ participants: new Participants(), proposals: new ProposalViews(defaultGuard) })
  const proposals = new Map<string, ProposalView>()
  const kinds = answers ? [...proposalKinds, Kind.mcpResponse] : proposalKinds
  for await (const envelope of http.readLog({ kind: kinds })) {
    for (const changed of view.apply(envelope)?.proposals ?? []) proposals.set(changed.id, changed)
  }
  return [...proposals.values()]
}

/** Finds the open proposal whose id starts with a text. Throws `ProtocolError` if none does, `UsageError` if several do. */
export function findOpenProposal(
  proposals: readonly ProposalView[],
  start: string,
  now: number,
): ProposalView {
  const open = proposals.filter((each) => isOpenProposal(each, now))
  const found = findByPrefix(open, start, 'proposal')
  if (found !== undefined) return found
  const settled = findByPrefix(proposals, start, 'proposal')
  const message =
    settled === undefined
      ? `no proposal ${start} is in the log; meup proposals ls shows what is open`
      : `the proposal ${settled.id} is no longer open: ${formatOutcome(settled, now)}`
  throw new ProtocolError('proposal_not_found', message)
}

/** Runs a decision about a proposal. If it was no longer open, throws an error that says who decided it and how. */
export async function decideProposal<Value>(
  http: HttpClient,
  id: string,
  act: () => Promise<Value>,
): Promise<Value> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'proposal_not_found')
      findOpenProposal(await readProposals(http), id, Date.now())
    throw error
  }
}
