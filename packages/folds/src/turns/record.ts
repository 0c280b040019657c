import type { ResultSize } from '../mcp/result.js'
import type { Quoted, Source } from '../source.js'

export type TurnState = 'running' | 'completed' | 'cancelled' | 'abandoned' | 'error'
export type Outcome = 'success' | 'error' | 'rejected'

/** Why a tool was chosen, and what came of it. */
export interface ToolDecision {
  /** From 0 in the turn, in the order in which they were dispatched. */
  readonly number: number
  /** Of the request or the proposal; where the gateway refused it, the id it would have had. */
  readonly id: string
  /** The `system.decision` where the gateway refused it. */
  readonly source: Source
  readonly toolName: string
  /** Never blank; `null` = none was given. */
  readonly rationale: string | null
  /** As they are in the log: to be redacted where they are shown. */
  readonly parameters: unknown
  /** `null` as long as nothing came of it. */
  outcome: Outcome | null
  size: ResultSize | null
  /** Why it was cancelled, may be empty; `null` = it was not, or was answered all the same. */
  cancelled: string | null
  /** From 0 in the turn, the same for all that were dispatched together; `null` for a single one. */
  parallelGroup: number | null
  readonly batch: number
  /** Whether `outcome` is what the tool said. */
  isAnswered: boolean
  /** Whether its batch has ended: events tell of it from then on. */
  isReported: boolean
  /** Whether it counts: the agent has not tried again under its id. */
  isCurrent: boolean
}

/** A context that the agent opened for the turn, with all that is nested in it. */
export interface Run {
  readonly context: string
  readonly opening: Quoted
  isOpen: boolean
  /** Whether a tool was called in it: what is thought from then on is no narrative. */
  hasCalled: boolean
  lastThought: Quoted | null
}

/** One trigger, and what an agent made of it; or a job, which is work without a trigger. Owned by the fold. */
export interface TurnRecord {
  /** A ULID. */
  readonly id: string
  /** Epoch of the log. */
  readonly sessionId: string
  /** `<space>/<agent>` */
  readonly threadId: string
  readonly agent: string
  /** From 1 in the thread; `null` for a job. */
  readonly turnNumber: number | null
  /** Id of the envelope that a job began with (the start of its run); `null` for a turn. */
  readonly jobId: string | null
  /** Kind of the trigger, or `job`. */
  readonly inputSource: string
  readonly trigger: Quoted | null
  answer: Quoted | null
  state: TurnState
  /** Whether the asker took the trigger back. */
  isTakenBack: boolean
  readonly startedAt: string
  completedAt: string | null
  /** What was thought before the tools of the latest run were called; `null` without tools. */
  narrative: Quoted | null
  /** In the order in which they were dispatched; the latest 1,000. Those that were replaced count no more. */
  readonly decisions: readonly ToolDecision[]
  runs: Run[]
}
