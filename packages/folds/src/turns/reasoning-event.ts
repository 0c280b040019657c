import type { Outcome, ToolDecision, TurnRecord } from './record.js'
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
 * What is told of a turn as a batch of its calls ends: all decisions of batches that have ended by now. `undefined` for a
 * single call that belongs to no run.
 */
export function reasoningEvent(turn: TurnRecord): ReasoningUpdate | JobReasoning | undefined {
  const decisions = toldDecisions(turn)
  const text = turn.narrative?.text ?? null
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

/** The decisions that an event tells of. */
export const toldDecisions = ({ decisions }: TurnRecord): readonly ToolDecision[] =>
  decisions.filter(({ isReported, isCurrent }) => isReported && isCurrent)
