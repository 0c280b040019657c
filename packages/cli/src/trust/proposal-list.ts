import type { DialRequest } from '@meup/agent-sdk'
import { createProposalFold, type ProposalView } from '@meup/folds'
import { Kind, ProtocolError } from '@meup/protocol'
import { readLog } from '../reading.js'
import { chosen } from './chosen.js'
import { outcomeText } from './proposal-text.js'

/** Kinds of what opens and settles proposals. */
export const settling: readonly string[] = [
  Kind.mcpProposal,
  Kind.mcpRequest,
  Kind.mcpReject,
  Kind.mcpWithdraw,
  Kind.spaceKick,
  Kind.systemSpace,
]

/** The proposals of a space, oldest first, as far as its log tells this reader. `answers`: also how what was done ended. */
export async function readProposals(at: DialRequest, { answers = false } = {}): Promise<ProposalView[]> {
  const fold = createProposalFold()
  const proposals = new Map<string, ProposalView>()
  const kinds = answers ? [...settling, Kind.mcpResponse] : settling
  for await (const envelope of readLog(at, { kind: kinds.join() })) {
    for (const changed of fold.apply(envelope)) proposals.set(changed.id, changed)
  }
  return [...proposals.values()]
}

/** Whether somebody may still carry it out: others than who has rejected it, until its proposer takes it back. */
export const isOpen = ({ usesLeft, withdrawal, expiresAt }: ProposalView, now: number): boolean =>
  usesLeft > 0 && withdrawal === null && (expiresAt === null || Date.parse(expiresAt) > now)

/** The open one whose id begins so. Throws `ProtocolError` where there is none, `UsageError` where there are several. */
export function openProposal(proposals: readonly ProposalView[], start: string, now: number): ProposalView {
  const open = proposals.filter((each) => isOpen(each, now))
  const found = chosen(open, start, 'proposal')
  if (found !== undefined) return found
  const settled = chosen(proposals, start, 'proposal')
  const message =
    settled === undefined
      ? `no proposal ${start} is in the log; meup proposals ls shows what is open`
      : `the proposal ${settled.id} is no longer open: ${outcomeText(settled, now)}`
  throw new ProtocolError('proposal_not_found', message)
}
