import type { DialRequest } from '@meup/agent-sdk'
import { brief, createProposalFold, type ProposalView, printableJson, reasonText } from '@meup/folds'
import { Kind, ProtocolError } from '@meup/protocol'
import { readLog } from './http-client.js'
import { chosen, spanText } from './options.js'

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

/** Characters of the arguments, and of each text that somebody wrote. */
const longest = 200

/** A proposal for people: what is asked for, then why and how it stands. `now` in milliseconds since the epoch. */
export function proposalLines(proposal: ProposalView, now: number): string[] {
  const { id, source, tool, parameters, rationale } = proposal
  const target = [...(source.to === undefined ? [] : [source.to.join(',')]), brief(tool, 128)].join('/')
  return [
    `${id}  ${source.from} proposes ${target} ${argumentsText(parameters, longest)}`,
    `  ${brief(reasonText(rationale), longest)} · ${outcomeText(proposal, now)}`,
  ]
}

/** What it is to be done with. Nobody approves unawares what was cut. */
export function argumentsText(parameters: unknown, most: number): string {
  const text = printableJson(parameters)
  const isCut = text.length > most || text.includes('"…":"…"')
  return `${brief(text, most)}${isCut ? ' (cut; `meup open` shows all)' : ''}`
}

/** What has become of a proposal, and by whom. */
export function outcomeText(proposal: ProposalView, now: number): string {
  const { fulfilments, rejections } = proposal
  return [
    ...fulfilments.map(({ by, outcome }) => `approved by ${by}${outcome ? ` (${outcome})` : ''}`),
    ...rejections.map((each) => `rejected by ${each.by}: ${reasonOf(each)}`),
    ...(proposal.usesLeft > 0 ? [standingOf(proposal, now)] : []),
  ].join(' · ')
}

/** How one stands that could be carried out again. */
function standingOf({ usesLeft, withdrawal, expiresAt }: ProposalView, now: number): string {
  if (withdrawal !== null) return `withdrawn: ${reasonOf(withdrawal)}`
  const open = usesLeft > 1 ? `open ${usesLeft} times` : 'open'
  if (expiresAt === null) return open
  const left = Date.parse(expiresAt) - now
  return left <= 0 ? 'expired' : `${open}, expires in ${spanText(left)}`
}

function reasonOf({ reason, message }: { readonly reason: string; readonly message: string | null }): string {
  return brief(message === null ? reason : `${reason} (${message})`, longest)
}

/** A proposal for programs. */
export function proposalJson({ source, ...proposal }: ProposalView, now: number): object {
  const { state, expiresAt } = proposal
  const { seq, from, to, context } = source
  const isOver = state === 'open' && expiresAt !== null && Date.parse(expiresAt) <= now
  return { seq, from, to, context, ...proposal, ...(isOver && { state: 'expired' }) }
}
