import { assessRisk, getLikeness, type ProposalView, type Risk, type Why } from '@meup/folds'
import { explainEnvelope } from './explain.js'
import type { SpaceModel } from './space-model.js'
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
  readonly risk: Risk
  readonly marks: readonly Mark[]
  /** The steps that led to it; `undefined` = they are not loaded. */
  readonly origin: Why | undefined
}

const riskLabels: Readonly<Record<Risk['level'], string>> = {
  destructive: 'destructive',
  unknown: 'effect unknown',
  writes: 'writes',
  reads: 'reads only',
}

/** What there is to know about a proposal before it is decided. */
export function judge(model: SpaceModel, proposal: ProposalView): Waiting {
  const { id, source, tool, parameters } = proposal
  const effects = (source.to ?? []).map((owner) => model.tools.get(owner, tool)?.effect ?? 'unknown')
  const risk = assess({ tool, parameters, effects })
  const origin = explainEnvelope(model, id)
  const [outsideSeq] = origin?.outside ?? []
  const outside = outsideSeq === undefined ? undefined : model.log.at(outsideSeq)
  const marks: Mark[] = []
  if (risk.level !== 'reads') marks.push({ kind: 'effect', label: riskLabels[risk.level], why: risk.reason })
  if (!wasApproved(model.approved, proposal)) {
    const why = `No proposal of ${source.from} for ${nameText(tool)} with such arguments was approved before, as far as the log is loaded here.`
    marks.push({ kind: 'first', label: 'never approved before', why })
  }
  if (outside !== undefined) {
    const why = `A text of ${outside.from} (#${outside.seq}) stands in what led to it: it may be what told ${source.from} to ask.`
    marks.push({ kind: 'outside', label: 'follows from outside text', why, id: outside.id })
  } else if (origin?.cut) {
    const why = 'What led to it is not loaded here, or goes back too far: it may be a text from outside.'
    marks.push({ kind: 'outside', label: 'origin unknown', why })
  }
  return { proposal, risk, marks, origin }
}

interface Assessed {
  readonly effects: string
  readonly risk: Risk
}

/** By the arguments of the call: they are looked at again only when the tool says something else of itself. */
const assessments = new WeakMap<object, Assessed>()

function assess(call: Parameters<typeof assessRisk>[0]): Risk {
  const { parameters } = call
  const effects = call.effects.join()
  if (typeof parameters !== 'object' || parameters === null) return assessRisk(call)
  const known = assessments.get(parameters)
  if (known?.effects === effects) return known.risk
  const risk = assessRisk(call)
  assessments.set(parameters, { effects, risk })
  return risk
}

/** Likenesses of approved proposals: participant, tool and kind of arguments; and how many proposals they are of. */
const approvals = new WeakMap<readonly ProposalView[], { count: number; readonly likenesses: Set<string> }>()

/** Was a call of this participant to this tool, with arguments of the same kind, approved before? */
function wasApproved(approved: readonly ProposalView[], proposal: ProposalView): boolean {
  const known = approvals.get(approved) ?? { count: 0, likenesses: new Set() }
  approvals.set(approved, known)
  for (; known.count < approved.length; known.count++) {
    const each = approved[known.count]
    if (each !== undefined) known.likenesses.add(likenessOf(each))
  }
  return known.likenesses.has(likenessOf(proposal))
}

/** What proposals have in common that are the like of one another. */
const likenessOf = ({ source, tool, parameters }: ProposalView): string =>
  getLikeness({ from: source.from, to: source.to, tool, parameters })

/** Proposals with what there is to know about each: destructive ones first, then those with most marks, then the oldest. */
export const sortWaiting = (model: SpaceModel, proposals: readonly ProposalView[]): Waiting[] =>
  proposals
    .map((proposal) => judge(model, proposal))
    .sort((one, other) => weigh(other) - weigh(one) || one.proposal.source.seq - other.proposal.source.seq)

const weigh = ({ risk, marks }: Waiting): number => marks.length + (risk.level === 'destructive' ? 10 : 0)
