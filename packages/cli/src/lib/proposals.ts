import type { HttpClient } from '@meup/agent-sdk/http'
import {
  brief,
  defaultGuard,
  describeProposal,
  formatDuration,
  isOpenProposal,
  Participants,
  type ProposalView,
  ProposalViews,
  printableJson,
  proposalKinds,
  proposerEndedText,
  reasonText,
  SpaceView,
  sentence,
} from '@meup/folds'
import { Kind, omitUndefined, ProtocolError } from '@meup/protocol'
import type { JsonOf } from '../json-outputs.js'
import { findByPrefix } from './options.js'

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
export async function decideOpen<Value>(
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

/** Maximum characters of the arguments, and of each reason. */
const maxTextChars = 200

/** Formats a proposal: the call, the rationale and the state. */
export function formatProposal(proposal: ProposalView, now: number): string[] {
  const { id, parameters, rationale } = proposal
  return [
    `${id}  ${sentence(describeProposal(proposal, formatArguments(parameters, maxTextChars)))}`,
    `  ${brief(reasonText(rationale), maxTextChars)} · ${formatOutcome(proposal, now)}`,
  ]
}

/** Formats the arguments, and says so if they are truncated: unseen arguments should not be approved. */
function formatArguments(parameters: unknown, maxChars: number): string {
  const text = printableJson(parameters)
  const isCut = text.length > maxChars || text.includes('"…":"…"')
  return `${brief(text, maxChars)}${isCut ? ' (cut; `meup open` shows all)' : ''}`
}

/** Formats the decisions about a proposal and who made them, and its state. */
export function formatOutcome(proposal: ProposalView, now: number): string {
  const { fulfilments, rejections } = proposal
  return [
    ...fulfilments.map(({ by, outcome }) => `approved by ${by}${outcome ? ` (${outcome})` : ''}`),
    ...rejections.map((each) => `rejected by ${each.by}: ${formatProposalReason(each)}`),
    ...(proposal.usesLeft > 0 ? [formatStanding(proposal, now)] : []),
  ].join(' · ')
}

/** The state of a proposal that still has uses. */
function formatStanding(
  { usesLeft, withdrawal, expiresAt, programEnded, source }: ProposalView,
  now: number,
): string {
  if (withdrawal !== null) return `withdrawn: ${formatProposalReason(withdrawal)}`
  const left = programEnded ? `; ${proposerEndedText(source.from)}` : ''
  const open = `${usesLeft > 1 ? `open ${usesLeft} times` : 'open'}${left}`
  if (expiresAt === null) return open
  const leftMs = Date.parse(expiresAt) - now
  return leftMs <= 0 ? 'expired' : `${open}, expires in ${formatDuration(leftMs)}`
}

function formatProposalReason({
  reason,
  message,
}: {
  readonly reason: string
  readonly message: string | null
}): string {
  return brief(message === null ? reason : `${reason} (${message})`, maxTextChars)
}

/** Converts a proposal to the JSON that commands print. */
export function toProposalJson({ source, ...proposal }: ProposalView, now: number): JsonOf<'proposals ls'> {
  const { state, expiresAt } = proposal
  const { seq, from, to, context } = source
  const isOver = state === 'open' && expiresAt !== null && Date.parse(expiresAt) <= now
  const place = { seq, from, ...omitUndefined({ to, context }) }
  return { ...place, ...proposal, ...(isOver && { state: 'expired' as const }) }
}

/** The proposed tool, such as `files/read_text_file`. */
export const formatTarget = ({ source, tool }: ProposalView): string =>
  [...(source.to === undefined ? [] : [source.to.join(',')]), brief(tool, 128)].join('/')
