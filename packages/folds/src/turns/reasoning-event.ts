import type { Outcome, ToolDecision, TurnRecord } from './record.js'
import { type RationaleInfo, rationaleInfo } from './turn-info.js'

/** The tool calls of a turn so far, with their rationale. Events have no parameters. */
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

/** The tool calls of a job so far, like `ReasoningUpdate` for a turn. */
export interface JobReasoning {
  readonly type: 'job_reasoning'
  /** Id of the `reasoning.start` that began the job. */
  readonly job_id: string
  readonly narrative?: string
  readonly tool_decisions: readonly (RationaleInfo & {
    readonly tool_name: string
    readonly outcome: Outcome | null
  })[]
}

/**
 * The event at the end of a batch (calls made in parallel, or a single call), with the calls of all ended batches; `undefined`
 * for a job without runs.
 */
export function reasoningEvent(turn: TurnRecord): ReasoningUpdate | JobReasoning | undefined {
  const decisions = getReportedDecisions(turn)
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

/**
 * Lists the calls that events include: those of ended batches (calls made in parallel), without calls that a retry replaced.
 */
export const getReportedDecisions = ({ decisions }: TurnRecord): readonly ToolDecision[] =>
  decisions.filter(({ isReported, isCurrent }) => isReported && isCurrent)
