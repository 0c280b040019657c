import { everything, type MayRead, shown } from '../source.js'
import type { Outcome, TurnRecord } from './record.js'

/** What tools were chosen in a turn so far, and why. No event has parameters. */
export interface ReasoningUpdate {
  readonly type: 'reasoning_update'
  readonly thread_id: string
  readonly session_id: string
  readonly turn_number: number
  readonly narrative?: string
  readonly tool_decisions: readonly {
    readonly tool_name: string
    readonly rationale: string
    readonly outcome: Outcome | null
    readonly parallel_group: number | null
  }[]
}

/** The same of a run without a trigger. */
export interface JobReasoning {
  readonly type: 'job_reasoning'
  /** Id of the start of the run. */
  readonly job_id: string
  readonly narrative?: string
  readonly tool_decisions: readonly {
    readonly tool_name: string
    readonly rationale: string
    readonly outcome: Outcome | null
  }[]
}

/**
 * The event for a turn or job of `TurnChange.updates`, for this reader: all decisions of batches that have ended.
 * `undefined` where it may read none of them, and for a single call that belongs to no run.
 */
export function reasoningEvent(
  turn: TurnRecord,
  mayRead: MayRead = everything,
): ReasoningUpdate | JobReasoning | undefined {
  const decisions = turn.decisions.filter(({ isReported, source }) => isReported && mayRead(source))
  if (decisions.length === 0) return undefined
  const text = shown(turn.narrative, mayRead)
  const narrative = text === null ? {} : { narrative: text }
  if (turn.turnNumber !== null) {
    const tool_decisions = decisions.map(({ toolName, rationale, outcome, parallelGroup }) => ({
      tool_name: toolName,
      rationale,
      outcome,
      parallel_group: parallelGroup,
    }))
    const { threadId: thread_id, sessionId: session_id, turnNumber: turn_number } = turn
    return { type: 'reasoning_update', thread_id, session_id, turn_number, ...narrative, tool_decisions }
  }
  if (turn.jobId === null || turn.runs.length === 0) return undefined
  const tool_decisions = decisions.map(({ toolName, rationale, outcome }) => ({
    tool_name: toolName,
    rationale,
    outcome,
  }))
  return { type: 'job_reasoning', job_id: turn.jobId, ...narrative, tool_decisions }
}
