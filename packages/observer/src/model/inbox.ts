import { assessRisk, getLikeness, type ProposalView, type Risk, type Why } from '@meup/folds'
import { explainEnvelope } from './explain.js'
import type { SpaceModel } from './space-model.js'
import { nameText } from './text.js'

/** A reason to examine a proposal closely. */
export interface Caution {
  readonly kind: 'effect' | 'first' | 'outside'
  readonly label: string
  readonly why: string
  /** Id of the envelope that explains the caution, such as text from outside. */
  readonly id?: string
}

/** An open proposal, with information for the decision. */
export interface Waiting {
  readonly proposal: ProposalView
  readonly risk: Risk
  readonly marks: readonly Caution[]
  /** The steps that led to the proposal; `undefined` if they are not loaded. */
  readonly origin: Why | undefined
}

const riskLabels: Readonly<Record<Risk['level'], string>> = {
  destructive: 'destructive',
  unknown: 'effect unknown',
  writes: 'writes',
  reads: 'reads only',
}

/** Collects what a reader should know before deciding a proposal. */
export function judge(model: SpaceModel, proposal: ProposalView): Waiting {
  const { id, source, tool, parameters } = proposal
  const effects = (source.to ?? []).map((owner) => model.tools.get(owner, tool)?.effect ?? 'unknown')
  const risk = assess({ tool, parameters, effects })
  const origin = explainEnvelope(model, id)
  const [outsideSeq] = origin?.outside ?? []
  const outside = outsideSeq === undefined ? undefined : model.log.at(outsideSeq)
  const marks: Caution[] = []
  if (risk.level !== 'reads') marks.push({ kind: 'effect', label: riskLabels[risk.level], why: risk.reason })
  if (!wasApproved(model.approved, proposal)) {
    const why = `No proposal of ${source.from} for ${nameText(tool)} with such arguments was approved before, as far as the log is loaded here.`
    marks.push({ kind: 'first', label: 'never approved before', why })
  }
  if (outside !== undefined) {
    const why = `A text of ${outside.from} (#${outside.seq}) is among what led to it, and may have made ${source.from} ask.`
    marks.push({ kind: 'outside', label: 'follows from outside text', why, id: outside.id })
  } else if (origin?.cut) {
    const why = 'Its causes are not loaded here, or go back too far: a text from outside may be among them.'
    marks.push({ kind: 'outside', label: 'origin unknown', why })
  }
  return { proposal, risk, marks, origin }
}

interface Assessed {
  readonly effects: string
  readonly risk: Risk
}

/** Cached risks, by the arguments object of the call; recomputed if the tool's annotations change. */
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

/** Keys of the proposals in a list of approved ones, from `likenessOf`; `count`: how many of the list are included so far. */
const approvals = new WeakMap<readonly ProposalView[], { count: number; readonly likenesses: Set<string> }>()

/** Whether a similar call was approved before: same participant and tool, similar arguments. */
function wasApproved(approved: readonly ProposalView[], proposal: ProposalView): boolean {
  const known = approvals.get(approved) ?? { count: 0, likenesses: new Set() }
  approvals.set(approved, known)
  for (; known.count < approved.length; known.count++) {
    const each = approved[known.count]
    if (each !== undefined) known.likenesses.add(likenessOf(each))
  }
  return known.likenesses.has(likenessOf(proposal))
}

/** A key that is equal for proposals with the same participant and tool, and with similar arguments. */
const likenessOf = ({ source, tool, parameters }: ProposalView): string =>
  getLikeness({ from: source.from, to: source.to, tool, parameters })

/** Sorts proposals: destructive ones first, then those with most cautions, then the oldest. */
export const sortWaiting = (model: SpaceModel, proposals: readonly ProposalView[]): Waiting[] =>
  proposals
    .map((proposal) => judge(model, proposal))
    .sort((one, other) => weigh(other) - weigh(one) || one.proposal.source.seq - other.proposal.source.seq)

const weigh = ({ risk, marks }: Waiting): number => marks.length + (risk.level === 'destructive' ? 10 : 0)
