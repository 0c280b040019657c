import { everything, type MayRead, shown } from '../source.js'
import { outcomeFor } from './decisions.js'
import type { BatchEnd, Outcome, ReportedTurn } from './record.js'
import { type RationaleInfo, rationaleInfo } from './turn-info.js'

/** What tools were chosen in a turn so far, and why. No event has parameters. */
export interface ReasoningUpdate {
  readonly type: 'reasoning_update'
  readonly thread_id: string
  readonly session_id: string
  readonly turn_number: number
  readonly narrative?: string
  readonly tool_decisions: readonly (RationaleInfo & {
    readonly tool_name: string
    readonly outcome: Outcome | null
    readonly parallel_group: number | null
  })[]
}

/** The same of a run without a trigger. */
export interface JobReasoning {
  readonly type: 'job_reasoning'
  /** Id of the start of the run. */
  readonly job_id: string
  readonly narrative?: string
  readonly tool_decisions: readonly (RationaleInfo & {
    readonly tool_name: string
    readonly outcome: Outcome | null
  })[]
}

/**
 * What this reader is told as a batch ends: all decisions of batches that had ended by then, with what was known of them then,
 * whenever it is asked. `undefined` where it may read none of that batch, or nothing of how it ended; where none of the
 * decisions is one that it has asked for; and for a single call that belongs to no run.
 */
export function reasoningEvent(
  { seq, turn, narrative: said }: BatchEnd,
  mayRead: MayRead = everything,
  isAsked: MayRead = everything,
): ReasoningUpdate | JobReasoning | undefined {
  const told = decisionsAt(seq, turn)
  const decisions = told
    .filter(({ source }) => mayRead(source))
    .map((decision) => ({ ...decision, outcome: outcomeFor(decision, mayRead) }))
  const isOfBatch = ({ reportedAt }: ReportedTurn['decisions'][number]): boolean => reportedAt === seq
  // Of a batch that has been dropped, nobody can tell who may read it.
  const isTold = decisions.some((each) => isOfBatch(each) && each.outcome !== null) || !told.some(isOfBatch)
  if (!isTold || !decisions.some(({ source }) => isAsked(source))) return undefined
  const text = shown(said, mayRead)
  const narrative = text === null ? {} : { narrative: text }
  if (turn.turnNumber !== null) {
    const tool_decisions = decisions.map(({ toolName, rationale, outcome, parallelGroup }) => ({
      tool_name: toolName,
      ...rationaleInfo(rationale),
      outcome,
      parallel_group: parallelGroup,
    }))
    const { threadId: thread_id, sessionId: session_id, turnNumber: turn_number } = turn
    return { type: 'reasoning_update', thread_id, session_id, turn_number, ...narrative, tool_decisions }
  }
  if (turn.jobId === null || turn.runs.length === 0) return undefined
  const tool_decisions = decisions.map(({ toolName, rationale, outcome }) => ({
    tool_name: toolName,
    ...rationaleInfo(rationale),
    outcome,
  }))
  return { type: 'job_reasoning', job_id: turn.jobId, ...narrative, tool_decisions }
}

/** What was told of a turn as this envelope had come. */
function decisionsAt(seq: number, { decisions }: ReportedTurn): ReportedTurn['decisions'] {
  return decisions
    .filter(
      ({ reportedAt, replacedAt }) =>
        reportedAt !== null && reportedAt <= seq && (replacedAt === null || replacedAt > seq),
    )
    .map((decision) => {
      const told = decision.earlier.find(({ before }) => before > seq) ?? decision
      return { ...decision, outcome: told.outcome, parallelGroup: told.parallelGroup }
    })
}
