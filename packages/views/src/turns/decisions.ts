import type { ResultSize } from '../mcp/result.js'
import type { MayRead, Source } from '../source.js'
import { head } from '../text.js'
import type { Earlier, Outcome, ToolDecision, TurnRecord } from './record.js'

/** Characters that are kept of what a tool said. */
export const longestResult = 500
/** Decisions that are kept of one turn, and batches that may be under way in it. */
const remembered = { decisions: 1000, batches: 32 }

export interface Dispatch {
  readonly id: string
  /** Of the envelope that dispatches it. */
  readonly source: Source
  readonly toolName: string
  /** Not blank; `null` = none was given. */
  readonly rationale: string | null
  readonly parameters: unknown
  /** Characters of `parameters`. */
  readonly size: number
  /** The `parallelGroup` that the agent gave. */
  readonly label?: number | undefined
}

/** How a call ended. */
export interface End {
  /** Of the envelope that ends it. */
  readonly seq: number
  /** What tells so, which not everybody may read; `null` where nobody says it. */
  readonly source: Source | null
  readonly outcome: Outcome
  /** What the tool said, or why it came to nothing. */
  readonly text?: string | undefined
  readonly size?: ResultSize | null
  /** Whether the tool answered; what else ends a call gives way to an answer that comes later. */
  readonly isAnswer: boolean
}

const fresh = {
  outcome: null,
  result: null,
  error: null,
  size: null,
  settledBy: null,
  isAnswered: false,
  reportedAt: null,
  earlier: [],
  replacedAt: null,
}

/** Adds a call to its turn. A refused one that is tried again under the same id takes its own place. */
export function dispatch(turn: TurnRecord, { label, size, ...call }: Dispatch): void {
  const { seq: changedAt } = call.source
  for (const each of turn.decisions) {
    if (each.id === call.id && counts(each)) Object.assign(each, { replacedAt: changedAt, changedAt })
  }
  const batch = batchFor(turn, label)
  const parallelGroup = groupIn(turn, batch, changedAt)
  const weight = 1000 + size + (call.rationale?.length ?? 0)
  const number = turn.dispatched++
  turn.decisions.push({ number, ...call, ...fresh, batch, parallelGroup, changedAt, weight })
  turn.weight += weight
  if (turn.decisions.length <= remembered.decisions) return
  if (!drop(turn, (each) => !isPending(each))) drop(turn, () => true)
}

/** Ends a call. Whether that was the last of its batch. */
export function settle(
  turn: TurnRecord,
  id: string,
  { seq, source, outcome, text, size = null, isAnswer }: End,
): boolean {
  const decision = turn.decisions.findLast((each) => each.id === id)
  if (decision === undefined || decision.isAnswered || (decision.outcome !== null && !isAnswer)) return false
  const [result, error] = outcome === 'success' ? [excerpt(text), null] : [null, excerpt(text)]
  change(decision, { outcome, result, error, size, settledBy: source, isAnswered: isAnswer }, seq)
  const batch = membersOf(turn, decision.batch)
  if (decision.reportedAt !== null || batch.some(isPending)) return false
  for (const each of batch) if (each.reportedAt === null) change(each, { reportedAt: seq }, seq)
  if (batch.length > 1) turn.openBatches = turn.openBatches.filter((each) => each.batch !== decision.batch)
  return true
}

/** The agent does something else than to call `label`: batches that have ended are not joined any more. */
export function moveOn(turn: TurnRecord, label?: number): void {
  if (turn.openBatches.length === 0) return
  turn.openBatches = turn.openBatches.filter(
    (each) => each.label === label || membersOf(turn, each.batch).some(isPending),
  )
}

/**
 * A label stands for the same batch until the agent moves on, or until the batch, if it has more than one call, has
 * ended: agents number their batches as they like.
 */
function batchFor(turn: TurnRecord, label: number | undefined): number {
  const open = turn.openBatches.find((each) => each.label === label)
  if (open !== undefined) return open.batch
  const batch = turn.batches++
  if (label !== undefined)
    turn.openBatches = [...turn.openBatches, { label, batch }].slice(-remembered.batches)
  return batch
}

/** The second call makes a group of a batch. */
function groupIn(turn: TurnRecord, batch: number, seq: number): number | null {
  const members = membersOf(turn, batch)
  if (members.length === 0) return null
  const parallelGroup = members[0]?.parallelGroup ?? turn.parallelGroups++
  for (const each of members) if (each.parallelGroup === null) change(each, { parallelGroup }, seq)
  return parallelGroup
}

/** What events have told stays known. */
function change(decision: ToolDecision, changed: Partial<ToolDecision>, seq: number): void {
  const { outcome, parallelGroup, reportedAt, earlier } = decision
  const told: Earlier = { before: seq, outcome, parallelGroup }
  Object.assign(decision, changed, {
    changedAt: seq,
    ...(reportedAt !== null && { earlier: [...earlier, told] }),
  })
}

const excerpt = (text: string | undefined): string | null =>
  text === undefined ? null : head(text, longestResult)

/** Takes the first such decision out. Whether there was one. */
function drop(turn: TurnRecord, which: (decision: ToolDecision) => boolean): boolean {
  const at = turn.decisions.findIndex(which)
  if (at === -1) return false
  const [dropped] = turn.decisions.splice(at, 1)
  turn.weight -= dropped?.weight ?? 0
  return true
}

const membersOf = ({ decisions }: TurnRecord, batch: number): ToolDecision[] =>
  decisions.filter((each) => each.batch === batch)

/** How a call ended, for this reader: `null` where it may not read what tells so. */
export const outcomeFor = (
  { outcome, settledBy }: Pick<ToolDecision, 'outcome' | 'settledBy'>,
  mayRead: MayRead,
): Outcome | null => (settledBy === null || mayRead(settledBy) ? outcome : null)

/** Whether it is one of the turn's: no other took its place. */
export const counts = ({ replacedAt }: Pick<ToolDecision, 'replacedAt'>): boolean => replacedAt === null

const isPending = ({ outcome }: ToolDecision): boolean => outcome === null
