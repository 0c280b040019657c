import {
  brief,
  describeProposal,
  formatDuration,
  type ProposalView,
  printableJson,
  proposerEndedText,
  reasonText,
  sentence,
} from '@meup/folds'
import { omitUndefined } from '@meup/protocol'
import type { JsonOf } from '../json-outputs.js'

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

/** The state of a proposal that has not been approved as often as it may be. */
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
