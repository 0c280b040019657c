import type { ResultSize } from '../mcp/result.js'
import { defaultGuard, type Guard, redact } from '../redact.js'
import { FALLBACK_RATIONALE } from '../text.js'
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
  /** Present where it was cancelled: why, may be empty. */
  readonly cancelled?: string
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
  /** Present where its first envelopes have been pruned. */
  readonly truncated?: boolean
  /** The `calls_before` that asks for earlier calls; present where there may be more. */
  readonly next?: number
}

/** Which calls of a turn are told. */
export interface CallPart {
  /** Those whose seq is not smaller than `from`, and smaller than `before`: the latest `maxCalls` of them. */
  readonly from: number
  readonly before: number
  readonly maxCalls: number
  /** Whether there may be calls before `from`. */
  readonly hasEarlier: boolean
}

/** With how much came back: for terminals and pages that fold the log themselves. */
export interface DetailedDecision extends ToolDecisionInfo {
  readonly size: ResultSize | null
}

/** `undefined` for a job. What may not be shown of what tools were asked is masked by `guard`. */
export const turnInfo = (
  turn: TurnRecord,
  guard: Guard = defaultGuard,
  part: CallPart = all,
): TurnInfo | undefined => describe(turn, part, (decision) => decisionInfo(turn, decision, guard))

/** Like `turnInfo`, with how much each tool gave back. */
export const turnDetail = (
  turn: TurnRecord,
  guard: Guard = defaultGuard,
  part: CallPart = all,
): TurnInfo<DetailedDecision> | undefined =>
  describe(turn, part, (decision) => ({ ...decisionInfo(turn, decision, guard), size: decision.size }))

const all: CallPart = { from: 0, before: Infinity, maxCalls: Infinity, hasEarlier: false }

function describe<Decision extends ToolDecisionInfo>(
  turn: TurnRecord,
  { from, before, maxCalls, hasEarlier }: CallPart,
  toInfo: (decision: ToolDecision) => Decision,
): TurnInfo<Decision> | undefined {
  const { turnNumber, trigger, answer, narrative } = turn
  if (turnNumber === null) return undefined
  const current = turn.decisions.filter(({ isCurrent }) => isCurrent)
  const inPart = current.filter(({ source }) => source.seq >= from && source.seq < before)
  const decisions = inPart.slice(-maxCalls)
  const isMore = inPart.length > maxCalls || hasEarlier
  const [first] = inPart.length > maxCalls ? decisions : []
  return {
    turn_number: turnNumber,
    user_input: trigger?.text ?? null,
    response: answer?.text ?? null,
    state: turn.state,
    started_at: turn.startedAt,
    completed_at: turn.completedAt,
    tool_calls: decisions.map((decision) => {
      const outcome = outcomeIn(turn, decision)
      const has_error = outcome === 'error' || outcome === 'rejected'
      return { name: decision.toolName, has_result: outcome === 'success', has_error }
    }),
    reasoning:
      current.length === 0 && !hasEarlier
        ? null
        : {
            session_id: turn.sessionId,
            thread_id: turn.threadId,
            turn_number: turnNumber,
            narrative: narrative?.text ?? null,
            tool_decisions: decisions.map(toInfo),
          },
    ...(isMore && { next: first?.source.seq ?? from }),
  }
}

/** What came of a call; of one that a turn which is over has left without an answer, that nothing came [MEUP-11.17]. */
const outcomeIn = ({ state }: TurnRecord, { outcome }: ToolDecision): Outcome | null =>
  outcome ?? (state === 'running' ? null : state === 'cancelled' ? 'rejected' : 'error')

/** Why it was cancelled; a call that a cancelled turn makes is so from the first. */
const cancelledIn = ({ state }: TurnRecord, { outcome, cancelled }: ToolDecision): { cancelled?: string } => {
  const reason = cancelled ?? (outcome === null && state === 'cancelled' ? '' : null)
  return reason === null ? {} : { cancelled: reason }
}

export const rationaleInfo = (rationale: string | null): RationaleInfo =>
  rationale === null ? { rationale: FALLBACK_RATIONALE, rationale_given: false } : { rationale }

const decisionInfo = (turn: TurnRecord, decision: ToolDecision, guard: Guard): ToolDecisionInfo => ({
  tool_name: decision.toolName,
  ...rationaleInfo(decision.rationale),
  parameters: redact(decision.parameters, guard).value,
  outcome: outcomeIn(turn, decision),
  ...cancelledIn(turn, decision),
  parallel_group: decision.parallelGroup,
})

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

/** The decisions that an event tells of. */
export const getReportedDecisions = ({ decisions }: TurnRecord): readonly ToolDecision[] =>
  decisions.filter(({ isReported, isCurrent }) => isReported && isCurrent)
