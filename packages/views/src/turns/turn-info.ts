import type { ResultSize } from '../mcp/result.js'
import { everything, type MayRead, shown } from '../source.js'
import { FALLBACK_RATIONALE } from '../text.js'
import { counts, outcomeFor } from './decisions.js'
import type { Outcome, ToolDecision, TurnRecord, TurnState } from './record.js'

/** Why a tool was chosen, as turns and events tell it. */
export interface RationaleInfo {
  /** Never blank. */
  readonly rationale: string
  /** Present where the agent gave none: `rationale` is the standing sentence [MEUP-6.7]. */
  readonly rationale_given?: false
}

/** A tool that was chosen, as the HTTP API tells it. */
export interface ToolDecisionInfo extends RationaleInfo {
  readonly tool_name: string
  /** Redacted and bounded. */
  readonly parameters: unknown
  /** `null` as long as there is none. */
  readonly outcome: Outcome | null
  readonly parallel_group: number | null
}

export interface TurnReasoning<Decision extends ToolDecisionInfo = ToolDecisionInfo> {
  readonly session_id: string
  readonly thread_id: string
  readonly turn_number: number
  readonly narrative: string | null
  readonly tool_decisions: readonly Decision[]
}

/** A turn, as the HTTP API tells it. */
export interface TurnInfo<Decision extends ToolDecisionInfo = ToolDecisionInfo> {
  readonly turn_number: number
  readonly user_input: string | null
  readonly response: string | null
  readonly state: TurnState
  readonly started_at: string
  readonly completed_at: string | null
  readonly tool_calls: readonly {
    readonly name: string
    readonly has_result: boolean
    readonly has_error: boolean
  }[]
  /** `null` where no tool was called. */
  readonly reasoning: TurnReasoning<Decision> | null
}

/** With how much came back: for terminals and pages that fold the log themselves. */
export interface DetailedDecision extends ToolDecisionInfo {
  readonly size: ResultSize | null
}

/** What this reader may see of a turn; `undefined` for a job, and where it may read nothing of it. */
export const turnInfo = (turn: TurnRecord, mayRead: MayRead = everything): TurnInfo | undefined =>
  describe(turn, mayRead, decisionInfo)

/** Like `turnInfo`, with how much each tool gave back. */
export const turnDetail = (
  turn: TurnRecord,
  mayRead: MayRead = everything,
): TurnInfo<DetailedDecision> | undefined =>
  describe(turn, mayRead, (decision) => ({ ...decisionInfo(decision), size: decision.size }))

function describe<Decision extends ToolDecisionInfo>(
  turn: TurnRecord,
  mayRead: MayRead,
  tell: (decision: ToolDecision) => Decision,
): TurnInfo<Decision> | undefined {
  const { turnNumber, trigger, answer, runs } = turn
  const decisions = turn.decisions
    .filter((decision) => counts(decision) && mayRead(decision.source))
    .map((decision) => {
      const outcome = outcomeFor(decision, mayRead)
      return { ...decision, outcome, size: outcome === null ? null : decision.size }
    })
  const said = [trigger, answer, ...runs.map(({ opening }) => opening)]
  const isSeen = decisions.length > 0 || said.some((quoted) => quoted !== null && mayRead(quoted.source))
  if (turnNumber === null || !isSeen) return undefined
  return {
    turn_number: turnNumber,
    user_input: shown(trigger, mayRead),
    response: shown(answer, mayRead),
    state: turn.state,
    started_at: turn.startedAt,
    completed_at: turn.completedAt,
    tool_calls: decisions.map(({ toolName, outcome }) => ({
      name: toolName,
      has_result: outcome === 'success',
      has_error: outcome === 'error' || outcome === 'rejected',
    })),
    reasoning:
      decisions.length === 0
        ? null
        : {
            session_id: turn.sessionId,
            thread_id: turn.threadId,
            turn_number: turnNumber,
            narrative: shown(turn.narrative, mayRead),
            tool_decisions: decisions.map(tell),
          },
  }
}

export const rationaleInfo = (rationale: string | null): RationaleInfo =>
  rationale === null ? { rationale: FALLBACK_RATIONALE, rationale_given: false } : { rationale }

const decisionInfo = ({
  toolName,
  rationale,
  parameters,
  outcome,
  parallelGroup,
}: ToolDecision): ToolDecisionInfo => ({
  tool_name: toolName,
  ...rationaleInfo(rationale),
  parameters,
  outcome,
  parallel_group: parallelGroup,
})
