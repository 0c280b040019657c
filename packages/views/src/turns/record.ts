import type { ResultSize } from '../mcp/result.js'
import type { Quoted, Source } from '../source.js'

export type TurnState = 'running' | 'completed' | 'cancelled' | 'abandoned' | 'error'
export type Outcome = 'success' | 'error' | 'rejected'

/** What was told of a decision before the envelope `before` changed it. */
export interface Earlier {
  readonly before: number
  readonly outcome: Outcome | null
  readonly parallelGroup: number | null
}

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
  /** Redacted and bounded. */
  readonly parameters: unknown
  /** `null` as long as nothing came of it. */
  outcome: Outcome | null
  /** What the tool said, redacted, its first 500 characters. */
  result: string | null
  /** Why it came to nothing, as far as that was said. */
  error: string | null
  size: ResultSize | null
  /** From 0 in the turn, the same for all that were dispatched together; `null` for a single one. */
  parallelGroup: number | null
  readonly batch: number
  /** Whether `outcome` is what the tool said. */
  isAnswered: boolean
  /** What told of `outcome`, where an envelope did. */
  settledBy: Source | null
  /** Seq of the envelope that ended its batch: events tell of it from there on. `null` = not yet. */
  reportedAt: number | null
  /** What events told of it earlier; the oldest first. */
  earlier: readonly Earlier[]
  /** Seq of the envelope that took it out of the turn, as the agent tried again under its id. `null` = it counts. */
  replacedAt: number | null
  /** Seq of the last envelope that changed it. */
  changedAt: number
  /** About how many characters it takes in memory. */
  readonly weight: number
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
  /** Why it failed or was cancelled, where that was said. */
  error: string | null
  /** Whether the asker took the trigger back. */
  isTakenBack: boolean
  readonly startedAt: string
  completedAt: string | null
  /** What was thought before the tools of the latest run were called; `null` without tools. */
  narrative: Quoted | null
  /** In the order in which they were dispatched; the latest 1,000. Those that were replaced count no more. */
  decisions: ToolDecision[]
  runs: Run[]
  /** Number of its steps so far. */
  steps: number
  /** Batches that calls with the same label may still join. */
  openBatches: { readonly label: number; readonly batch: number }[]
  /** Number of its decisions so far. */
  dispatched: number
  batches: number
  parallelGroups: number
  /** Of its decisions. */
  weight: number
}

/** What is known of a turn besides what was done in it. */
export type TurnHeading = Omit<TurnRecord, 'decisions' | 'runs' | 'openBatches'>

/** What events tell of a turn, or decide by. */
export interface ReportedTurn extends TurnHeading {
  readonly decisions: readonly Omit<ToolDecision, 'parameters' | 'result' | 'error' | 'size'>[]
  readonly runs: readonly Run[]
}

/** A batch of calls has ended: `reasoningEvent` has something to tell, now and, of what is kept of the turn, later. */
export interface BatchEnd<Turn extends ReportedTurn = ReportedTurn> {
  /** Of the envelope that ended it. */
  readonly seq: number
  readonly turn: Turn
  /** Of the turn, as it was then. */
  readonly narrative: Quoted | null
}

type Beginning = Pick<TurnRecord, 'id' | 'sessionId' | 'threadId' | 'agent' | 'inputSource' | 'startedAt'> &
  Partial<Pick<TurnRecord, 'turnNumber' | 'jobId' | 'trigger'>>

export const newTurn = (beginning: Beginning): TurnRecord => ({
  turnNumber: null,
  jobId: null,
  trigger: null,
  ...beginning,
  answer: null,
  state: 'running',
  error: null,
  isTakenBack: false,
  completedAt: null,
  narrative: null,
  decisions: [],
  runs: [],
  steps: 0,
  openBatches: [],
  dispatched: 0,
  batches: 0,
  parallelGroups: 0,
  weight: 0,
})

export const isRunning = ({ state, decisions, runs }: TurnRecord): boolean =>
  state === 'running' ||
  runs.some(({ isOpen }) => isOpen) ||
  decisions.some(({ outcome }) => outcome === null)

const lengthOf = (quoted: Quoted | null): number => quoted?.text?.length ?? 0

/** About how many characters a turn takes in memory. */
export function weightOf({ trigger, answer, narrative, runs, weight }: TurnRecord): number {
  let total = 1000 + weight + lengthOf(trigger) + lengthOf(answer) + lengthOf(narrative)
  for (const { opening, lastThought } of runs) total += 500 + lengthOf(opening) + lengthOf(lastThought)
  return total
}
