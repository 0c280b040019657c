import { describeRight, type RightInfo, type RightSources, toRightInfo } from '../capabilities/right.js'
import { defaultGuard } from '../default-guard.js'
import type { ResultSize } from '../mcp/result.js'
import { type Guard, redact } from '../redact.js'
import { FALLBACK_RATIONALE } from '../text.js'
import type { Outcome, ToolDecision, TurnRecord, TurnState } from './record.js'

/** The rationale of a call in turns and events. */
export interface RationaleInfo {
  /** The reason of the call, or a fallback; never blank. */
  readonly rationale: string
  /** `false` if the agent gave no reason, so that `rationale` is the fallback [MEUP-6.7]; otherwise absent. */
  readonly rationale_given?: false
}

/** A tool call in the HTTP API, with the right that let it pass, if that was logged. */
export interface ToolDecisionInfo extends RationaleInfo, RightInfo {
  readonly tool_name: string
  /** Arguments, masked and cut. */
  readonly parameters: unknown
  /** `null` while the call is pending. */
  readonly outcome: Outcome | null
  /** The reason of a cancellation, possibly empty; absent if it was not cancelled. */
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

/** A turn, as in the HTTP API. */
export interface TurnInfo<Decision extends ToolDecisionInfo = ToolDecisionInfo> {
  readonly turn_number: number
  readonly user_input: string | null
  readonly response: string | null
  readonly state: TurnState
  /** Why the agent failed, in its words; present if `state` is `error`. */
  readonly error?: string
  readonly started_at: string
  readonly completed_at: string | null
  readonly tool_calls: readonly {
    readonly name: string
    readonly has_result: boolean
    readonly has_error: boolean
  }[]
  /** `null` if no tool was called. */
  readonly reasoning: TurnReasoning<Decision> | null
  /** Present if the first envelopes of the turn were pruned. */
  readonly truncated?: boolean
  /** Value of `calls_before` to request the page of earlier calls; absent = there are none. */
  readonly next?: number
}

/** A range of the calls of a turn, for pages. */
export interface CallPart {
  /** The latest `maxCalls` calls of which the seq is at least `from` and less than `before`. */
  readonly from: number
  readonly before: number
  readonly maxCalls: number
  /** Whether there may be calls before `from`. */
  readonly hasEarlier: boolean
}

/** A decision with the size of its result, for terminals and pages that fold the log themselves. */
export interface DetailedDecision extends ToolDecisionInfo {
  readonly size: ResultSize | null
}

/**
 * The turn in the form of the HTTP API; `undefined` for a job. `guard` masks secrets in parameters. `rights`: sources for
 * describing the right of each call; absent = rights are omitted.
 */
export const turnInfo = (
  turn: TurnRecord,
  guard: Guard = defaultGuard,
  part: CallPart = all,
  rights?: RightSources,
): TurnInfo | undefined => describe(turn, part, (decision) => decisionInfo(turn, decision, guard, rights))

/** A turn with the size of each result, and the id of its answer. */
export interface TurnDetail extends TurnInfo<DetailedDecision> {
  /** Id of the answering chat; absent until the turn is answered. */
  readonly answer_id?: string
}

/** Like `turnInfo`, with the size of each result. */
export function turnDetail(
  turn: TurnRecord,
  guard: Guard = defaultGuard,
  part: CallPart = all,
  rights?: RightSources,
): TurnDetail | undefined {
  const info = describe(turn, part, (decision) => ({
    ...decisionInfo(turn, decision, guard, rights),
    size: decision.size,
  }))
  return info && { ...info, ...(turn.answer !== null && { answer_id: turn.answer.source.id }) }
}

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
    ...(turn.error !== null && { error: turn.error }),
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

/** The outcome of a call. A call that is not answered gets one when its turn ends [MEUP-11.17]. */
const outcomeIn = ({ state }: TurnRecord, { outcome }: ToolDecision): Outcome | null =>
  outcome ?? (state === 'running' ? null : state === 'cancelled' ? 'rejected' : 'error')

/** The reason of a cancellation. A call of a cancelled turn counts as cancelled, with an empty reason. */
const cancelledIn = ({ state }: TurnRecord, { outcome, cancelled }: ToolDecision): { cancelled?: string } => {
  const reason = cancelled ?? (outcome === null && state === 'cancelled' ? '' : null)
  return reason === null ? {} : { cancelled: reason }
}

export const rationaleInfo = (rationale: string | null): RationaleInfo =>
  rationale === null ? { rationale: FALLBACK_RATIONALE, rationale_given: false } : { rationale }

const decisionInfo = (
  turn: TurnRecord,
  decision: ToolDecision,
  guard: Guard,
  rights: RightSources | undefined,
): ToolDecisionInfo => ({
  tool_name: decision.toolName,
  ...rationaleInfo(decision.rationale),
  parameters: redact(decision.parameters, guard).value,
  outcome: outcomeIn(turn, decision),
  ...cancelledIn(turn, decision),
  parallel_group: decision.parallelGroup,
  ...(rights && decision.request && toRightInfo(describeRight(decision.request, rights))),
})
