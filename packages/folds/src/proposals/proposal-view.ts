import type { Envelope } from '@meup/protocol'
import { type Guard, guarded } from '../mcp/redact.js'
import type { Source } from '../source.js'
import { cut } from '../text.js'

/** What somebody asked those who may to do, and how far that has got. */
export interface ProposalView {
  readonly id: string
  readonly source: Source
  readonly tool: string
  /** Redacted and bounded. */
  readonly parameters: unknown
  /** `null` = none was given. */
  readonly rationale: string | null
  /** One `no` makes it `rejected`; until it is withdrawn, others may still say yes. */
  readonly state: 'open' | 'fulfilled' | 'rejected' | 'withdrawn' | 'expired'
  readonly usesLeft: number
  readonly proposedAt: string
  readonly expiresAt: string | null
  /** The latest 100. */
  readonly fulfilments: readonly Fulfilment[]
  /** The latest 100. */
  readonly rejections: readonly Refusal[]
  readonly withdrawal: Refusal | null
}

export interface Fulfilment {
  /** Id of the request. */
  readonly id: string
  readonly by: string
  readonly ts: string
  /** `null` until the tool has answered. */
  readonly outcome: 'success' | 'error' | null
}

/** A rejection or a withdrawal. */
export interface Refusal {
  readonly by: string
  readonly ts: string
  /** Guarded and cut to 2,000 characters, like `message`. */
  readonly reason: string
  readonly message: string | null
}

/** Of one proposal. */
const remembered = 100
const longestReason = 2000

export const isOpen = ({ state }: ProposalView): boolean => state === 'open'

/** `now` in milliseconds. */
export const isExpired = ({ expiresAt }: ProposalView, now: number): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= now

export function fulfilled(proposal: ProposalView, { id, from: by, ts }: Envelope): ProposalView {
  const usesLeft = Math.max(proposal.usesLeft - 1, 0)
  const fulfilments = [...proposal.fulfilments, { id, by, ts, outcome: null }].slice(-remembered)
  return { ...proposal, usesLeft, fulfilments, state: usesLeft === 0 ? 'fulfilled' : proposal.state }
}

export function answered(
  proposal: ProposalView,
  request: string,
  outcome: 'success' | 'error',
): ProposalView {
  const isMeant = (each: Fulfilment): boolean => each.id === request && each.outcome === null
  const fulfilments = proposal.fulfilments.map((each) => (isMeant(each) ? { ...each, outcome } : each))
  return { ...proposal, fulfilments }
}

export const rejected = (proposal: ProposalView, refusal: Refusal): ProposalView => ({
  ...proposal,
  state: isOpen(proposal) ? 'rejected' : proposal.state,
  rejections: [...proposal.rejections, refusal].slice(-remembered),
})

export const withdrawn = (proposal: ProposalView, refusal: Refusal): ProposalView => ({
  ...proposal,
  state: isOpen(proposal) ? 'withdrawn' : proposal.state,
  withdrawal: refusal,
})

export function refusalOf({ from: by, ts, payload }: Envelope, guard: Guard): Refusal {
  const { reason, message } = payload
  const text = (said: unknown): string => cut(guarded(String(said), guard), longestReason)
  return { by, ts, reason: text(reason), message: message === undefined ? null : text(message) }
}
