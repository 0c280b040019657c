import type { ProposalView } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { ToolInfo } from './log/tools.js'
import { nameText } from './text.js'
import { findOutsideText } from './why.js'

/** Why a proposal deserves a second look. */
export interface Mark {
  readonly kind: 'effect' | 'first' | 'outside'
  readonly label: string
  readonly why: string
  /** The envelope that it is for. */
  readonly id?: string
}

/** A proposal that waits, with what there is to know before it is decided. */
export interface Waiting {
  readonly proposal: ProposalView
  readonly marks: readonly Mark[]
  /** What led to it. */
  readonly chain: readonly Envelope[]
}

interface Known {
  getTool(owner: string, tool: string): ToolInfo | undefined
  /** Whether a proposal of this participant for this tool was approved before. */
  wasApproved(participant: string, tool: string): boolean
  explain(id: string): readonly Envelope[]
}

const effects = {
  deletes: {
    label: 'deletes',
    why: 'Its server says that the tool may delete or overwrite (destructiveHint).',
  },
  writes: {
    label: 'writes',
    why: 'Its server says that the tool changes something (destructiveHint: false).',
  },
  unknown: { label: 'effect unknown', why: 'Its server does not say whether the tool changes anything.' },
} as const

/** Of several that are asked, the worst counts. */
const worstFirst = ['deletes', 'unknown', 'writes', 'reads'] as const

export function judge(proposal: ProposalView, known: Known): Waiting {
  const { id, source, tool } = proposal
  const owners = source.to ?? []
  const found = owners.map((owner) => known.getTool(owner, tool)?.effect ?? 'unknown')
  const effect = worstFirst.find((each) => found.includes(each)) ?? 'unknown'
  const chain = known.explain(id)
  const outside = findOutsideText(chain)
  const marks: Mark[] = []
  if (effect !== 'reads') marks.push({ kind: 'effect', ...effects[effect] })
  if (!known.wasApproved(source.from, tool)) {
    const why = `No proposal of ${source.from} for ${nameText(tool)} was approved before, as far as the log is loaded here.`
    marks.push({ kind: 'first', label: 'never approved before', why })
  }
  if (outside !== undefined) {
    const why = `A text of ${outside.from} (#${outside.seq}) stands in what led to it: it may be what told ${source.from} to ask.`
    marks.push({ kind: 'outside', label: 'follows from outside text', why, id: outside.id })
  }
  return { proposal, marks, chain }
}

/** Those with most marks first, what deletes before what only may; then the oldest. */
export const sortWaiting = (waiting: readonly Waiting[]): Waiting[] =>
  [...waiting].sort(
    (one, other) => weigh(other) - weigh(one) || one.proposal.source.seq - other.proposal.source.seq,
  )

const weigh = ({ marks }: Waiting): number =>
  marks.length * 2 + (marks.some(({ label }) => label === effects.deletes.label) ? 1 : 0)
