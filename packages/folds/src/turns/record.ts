import { type Envelope, isContextAncestor } from '@meup/protocol'
import type { ResultSize } from '../mcp/result.js'
import type { Quoted, Source } from '../source.js'
import { isBlank } from '../text.js'

export type TurnState = 'running' | 'completed' | 'cancelled' | 'abandoned' | 'error'
export type Outcome = 'success' | 'error' | 'rejected'

/** A tool call, with its rationale and outcome. */
export interface ToolDecision {
  /** Number of the call in the turn, from 0, in the order of dispatch. */
  readonly number: number
  /** Id of the request or the proposal, also if the gateway refused it. */
  readonly id: string
  /** The envelope of the call; if the gateway refused it, the `system.decision`. */
  readonly source: Source
  readonly toolName: string
  /** Reason of the call, never blank; `null` = none. */
  readonly rationale: string | null
  /** Arguments as logged: mask them before display. */
  readonly parameters: unknown
  /**
   * The accepted request, which says which right let the call pass: the call itself, or the first request that fulfils the
   * proposal. `null` = none.
   */
  request: Envelope | null
  /** `null` while the call is pending. */
  outcome: Outcome | null
  size: ResultSize | null
  /** The reason of a cancellation, possibly empty; `null` = not cancelled, or answered nevertheless. */
  cancelled: string | null
  /** Number of the parallel group in the turn, from 0: the same for all calls of a batch; `null` for a single call. */
  parallelGroup: number | null
  readonly batch: number
  /** Whether `outcome` comes from the tool itself. */
  isAnswered: boolean
  /** Whether the batch of the call (calls made in parallel) has ended: from then on, events include the call. */
  isReported: boolean
  /** `false` if a retry with the same id has replaced the call. */
  isCurrent: boolean
}

/** A context that the agent opened for the turn, with its nested contexts. */
export interface Run {
  readonly context: string
  readonly opening: Quoted
  isOpen: boolean
  /** Whether the agent has called a tool in the run: later thoughts do not become the narrative of the turn. */
  hasCalled: boolean
  lastThought: Quoted | null
}

/** A turn (a trigger and the agent's work on it) or a job (work without a trigger). The fold keeps changing it: do not. */
export interface TurnRecord {
  /** Id of the turn, a ULID. */
  readonly id: string
  /** Epoch of the log that the turn is in. */
  readonly sessionId: string
  /** The thread, as `<space>/<agent>`. */
  readonly threadId: string
  readonly agent: string
  /** Number of the turn in its thread, from 1; `null` for a job. */
  readonly turnNumber: number | null
  /** Id of the envelope that a job began with (the start of its run); `null` for a turn. */
  readonly jobId: string | null
  /** Kind of the trigger, or `job`. */
  readonly inputSource: string
  readonly trigger: Quoted | null
  answer: Quoted | null
  state: TurnState
  /** Why the agent failed, in its words; `null` = no failure. */
  error: string | null
  /** Whether the asker retracted the trigger. */
  isTakenBack: boolean
  readonly startedAt: string
  completedAt: string | null
  /** The last thought before the first call of the latest run; `null` without calls. */
  narrative: Quoted | null
  /** The latest 1,000 calls in the order of dispatch, including those that a retry replaced. */
  readonly decisions: readonly ToolDecision[]
  runs: Run[]
}

/** Records an answer. The first one ends the turn, unless the trigger was retracted. */
export function answer(turn: TurnRecord, said: Quoted, state: TurnState, now: string): void {
  if (turn.answer !== null) return
  turn.answer = said
  if (!turn.isTakenBack && turn.turnNumber !== null) finish(turn, state, now)
}

/**
 * Ends a run. The last run to end also ends its job, or its turn, which then gets no answer; but a turn whose last run was
 * concluded still waits for its answer.
 */
export function endRun(turn: TurnRecord, run: Run, state: TurnState, now: string): void {
  run.isOpen = false
  if (!turn.runs.some(({ isOpen }) => isOpen)) endRuns(turn, state, now)
}

/** Ends a turn after its last run. A turn whose run was concluded still waits for the answer. */
export function endRuns(turn: TurnRecord, state: TurnState, now: string): void {
  if (turn.state !== 'running' || (turn.turnNumber !== null && state === 'completed')) return
  finish(turn, state, now)
}

/** Ends a turn, because the asker has retracted the trigger. */
export function takeBack(turn: TurnRecord, now: string): void {
  turn.isTakenBack = true
  if (turn.state !== 'running') return
  finish(turn, 'cancelled', now)
}

/** Resumes an unanswered turn, because the agent has begun another run. */
export function resumeTurn(turn: TurnRecord): void {
  if (turn.answer !== null || turn.isTakenBack || turn.turnNumber === null) return
  turn.state = 'running'
  turn.completedAt = null
}

function finish(turn: TurnRecord, state: TurnState, now: string): void {
  turn.state = state
  turn.completedAt = now
}

/** Maximum number of runs that are kept for one turn. */
const maxRuns = 100

/** Finds the run that this context is, or is nested in. */
const runIn = ({ runs }: TurnRecord, context: string | undefined): Run | undefined =>
  context === undefined
    ? undefined
    : runs.find((run) => run.context === context || isContextAncestor(run.context, context))

/** Adds a run, unless the context already belongs to one. */
export function addRun(turn: TurnRecord, context: string, opening: Quoted): void {
  if (runIn(turn, context) !== undefined) return
  turn.runs.push({ context, opening, isOpen: true, hasCalled: false, lastThought: null })
  if (turn.runs.length <= maxRuns) return
  const over = turn.runs.findIndex(({ isOpen }) => !isOpen)
  turn.runs.splice(Math.max(over, 0), 1)
}

export function think(turn: TurnRecord, context: string | undefined, thought: Quoted): void {
  const run = runIn(turn, context)
  if (run !== undefined && !run.hasCalled && !isEmpty(thought)) run.lastThought = thought
}

/**
 * Sets the narrative at the first call of a run: its last thought, or its opening. A run without texts keeps the previous
 * narrative.
 */
export function narrate(turn: TurnRecord, context: string | undefined): void {
  const run = runIn(turn, context)
  if (run === undefined || run.hasCalled) return
  run.hasCalled = true
  const said = run.lastThought ?? run.opening
  if (!isEmpty(said)) turn.narrative = said
}

/** Whether a text is empty. A withheld text is not: other texts must not replace it. */
const isEmpty = ({ text }: Quoted): boolean => text !== null && isBlank(text)
