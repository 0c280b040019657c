import type { ProposalView, Why } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { type ToolInfo, toolEffects } from './log/tools.js'
import { nameText } from './text.js'

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
  /** What led to it; `undefined` = it is not loaded. */
  readonly origin: Why | undefined
}

interface Known {
  getTool(owner: string, tool: string): ToolInfo | undefined
  /** Whether the like of it was approved before: the same participant, tool and target. */
  wasApproved(proposal: ProposalView): boolean
  explain(id: string): Why | undefined
  at(seq: number): Envelope | undefined
}

const reasons: Readonly<Record<Exclude<ToolInfo['effect'], 'reads'>, string>> = {
  deletes: 'Its server says that the tool may delete or overwrite (destructiveHint).',
  writes: 'Its server says that the tool changes something (destructiveHint: false).',
  unknown: 'Its server does not say whether the tool changes anything.',
}

/** Of several that are asked, the worst counts. */
const worstFirst = ['deletes', 'unknown', 'writes', 'reads'] as const

export function judge(proposal: ProposalView, known: Known): Waiting {
  const { id, source, tool } = proposal
  const owners = source.to ?? []
  const found = owners.map((owner) => known.getTool(owner, tool)?.effect ?? 'unknown')
  const effect = worstFirst.find((each) => found.includes(each)) ?? 'unknown'
  const origin = known.explain(id)
  const [outsideSeq] = origin?.outside ?? []
  const outside = outsideSeq === undefined ? undefined : known.at(outsideSeq)
  const marks: Mark[] = []
  if (effect !== 'reads') marks.push({ kind: 'effect', label: toolEffects[effect], why: reasons[effect] })
  if (!known.wasApproved(proposal)) {
    const why = `No proposal of ${source.from} for ${nameText(tool)} was approved before, as far as the log is loaded here.`
    marks.push({ kind: 'first', label: 'never approved before', why })
  }
  if (outside !== undefined) {
    const why = `A text of ${outside.from} (#${outside.seq}) stands in what led to it: it may be what told ${source.from} to ask.`
    marks.push({ kind: 'outside', label: 'follows from outside text', why, id: outside.id })
  } else if (origin?.cut) {
    const why = 'What led to it is not loaded here, or goes back too far: it may be a text from outside.'
    marks.push({ kind: 'outside', label: 'origin unknown', why })
  }
  return { proposal, marks, origin }
}

/** Those with most marks first, what deletes before what only may; then the oldest. */
export const sortWaiting = (waiting: readonly Waiting[]): Waiting[] =>
  [...waiting].sort(
    (one, other) => weigh(other) - weigh(one) || one.proposal.source.seq - other.proposal.source.seq,
  )

const weigh = ({ marks }: Waiting): number =>
  marks.length * 2 + (marks.some(({ label }) => label === toolEffects.deletes) ? 1 : 0)
