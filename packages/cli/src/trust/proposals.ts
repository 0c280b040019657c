import type { Grant, SpaceClient } from '@meup/agent-sdk'
import type { ProposalView } from '@meup/folds'
import { Kind, ProtocolError } from '@meup/protocol'
import { type ConnectionFlags, destination, enter } from '../connection.js'
import { print, printJson, tell } from '../output.js'
import { carriedOut } from './carried-out.js'
import { isOpen, openProposal, readProposals } from './proposal-list.js'
import { proposalJson, proposalLines } from './proposal-text.js'
import { printResult } from './result.js'

export interface ApproveFlags extends ConnectionFlags {
  readonly why?: string
  readonly always?: boolean
}

export interface RefuseFlags extends ConnectionFlags {
  readonly reason: string
  readonly message?: string
}

/** `meup proposals ls` */
export async function listProposals({
  all = false,
  ...flags
}: ConnectionFlags & { all?: boolean }): Promise<void> {
  const proposals = await readProposals(destination(flags), { answers: all })
  const now = Date.now()
  const shown = all ? proposals : proposals.filter((each) => isOpen(each, now))
  for (const each of shown) {
    if (flags.json) printJson(proposalJson(each, now))
    else for (const line of proposalLines(each, now)) print(line)
  }
  if (!flags.json && shown.length === 0) tell(all ? 'nothing was proposed' : 'no proposal is open')
}

/** `meup proposals approve`: does what was proposed, and prints what came of it. */
export function approveProposal(id: string, timeoutMs: number, flags: ApproveFlags): Promise<void> {
  return decide(id, flags, async (space, proposal) => {
    mustNotBeRejected(proposal, space.id)
    const options = { ...(flags.why !== undefined && { why: flags.why }) }
    if (!flags.always) {
      printResult(await space.proposals.approve(proposal.id, { ...options, timeoutMs }), flags.json)
      return
    }
    const result = carriedOut(space, proposal.id, timeoutMs)
    const grant = await space.proposals.allowAlways(proposal.id, options)
    tellGrant(grant)
    printResult(await result, flags.json, { grant })
  })
}

/** `meup proposals reject` */
export function rejectProposal(id: string, { reason, message, ...flags }: RefuseFlags): Promise<void> {
  return decide(id, flags, async (space, proposal) => {
    mustNotBeRejected(proposal, space.id)
    const { id, source } = proposal
    const reasons = { reason, ...(message !== undefined && { message }) }
    await space.proposals.reject(id, reasons)
    if (flags.json) printJson({ id, state: 'rejected', by: space.id, ...reasons })
    else tell(`${id} is rejected; ${source.from} is told why`)
  })
}

/** `meup proposals withdraw`: of one's own. */
export function withdrawProposal(id: string, { reason, message, ...flags }: RefuseFlags): Promise<void> {
  return decide(id, flags, async (space, { id }) => {
    const payload = { reason, ...(message !== undefined && { message }) }
    await space.send({ kind: Kind.mcpWithdraw, correlationId: id, payload })
    if (flags.json) printJson({ id, state: 'withdrawn', by: space.id, ...payload })
    else tell(`${id} is withdrawn`)
  })
}

function mustNotBeRejected({ id, rejections }: ProposalView, by: string): void {
  if (rejections.every((each) => each.by !== by)) return
  throw new ProtocolError('forbidden', `${by} has rejected ${id} already; leave it to others`)
}

const tellGrant = ({ id, recipient }: Grant): boolean =>
  tell(`${recipient} has the grant ${id}; meup caps revoke ${id} takes it back`)

/** Enters the space where the proposal was made, so that this connection knows it to the letter. */
async function decide(
  start: string,
  flags: ConnectionFlags,
  act: (space: SpaceClient, proposal: ProposalView) => Promise<void>,
): Promise<void> {
  const proposal = openProposal(await readProposals(destination(flags)), start, Date.now())
  const space = await enter(flags, { after: proposal.source.seq - 1 })
  try {
    await isShown(space, proposal)
    await act(space, proposal)
  } finally {
    space.close()
  }
}

/** Resolves when this connection was shown the proposal. */
async function isShown(space: SpaceClient, { id, source }: ProposalView): Promise<void> {
  if (space.welcome.resume.from > source.seq) {
    throw new ProtocolError('proposal_not_found', `the proposal ${id} is no longer in the log`)
  }
  for await (const envelope of space.envelopes()) if (envelope.id === id) return
}
