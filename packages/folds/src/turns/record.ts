import { type Envelope, GATEWAY, isContextAncestor, Kind } from '@meup/protocol'
import type { ResultSize } from '../mcp/result.js'
import type { Quoted, Source } from '../source.js'
import { getMessage, isBlank, isObject } from '../text.js'

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

/** The first answer ends a turn, unless the asker did not want it any more. */
export function answer(turn: TurnRecord, said: Quoted, state: TurnState, now: string): void {
  if (turn.answer !== null) return
  turn.answer = said
  if (!turn.isTakenBack && turn.turnNumber !== null) finish(turn, state, now)
}

/** One of its runs has ended. A job ends with its run; a turn whose runs were all cancelled is not answered any more. */
export function endRun(turn: TurnRecord, run: Run, state: TurnState, now: string): void {
  run.isOpen = false
  if (!turn.runs.some(({ isOpen }) => isOpen)) endRuns(turn, state, now)
}

/** None of its runs is open any more. */
export function endRuns(turn: TurnRecord, state: TurnState, now: string): void {
  if (turn.state !== 'running' || (turn.turnNumber !== null && state === 'completed')) return
  finish(turn, state, now)
}

/** The asker takes the trigger back. */
export function takeBack(turn: TurnRecord, now: string): void {
  turn.isTakenBack = true
  if (turn.state !== 'running') return
  finish(turn, 'cancelled', now)
}

/** More is done after the end; without an answer the turn is under way again. */
export function resume(turn: TurnRecord): void {
  if (turn.answer !== null || turn.isTakenBack || turn.turnNumber === null) return
  turn.state = 'running'
  turn.completedAt = null
}

function finish(turn: TurnRecord, state: TurnState, now: string): void {
  turn.state = state
  turn.completedAt = now
}

/** How this ends its context. An agent that may not cancel concludes, and says that it was cancelled. */
export function getEnding({ kind, from, payload }: Envelope): [state: TurnState, reason: string | null] {
  if (kind === Kind.reasoningConclusion) {
    const isCancelled = isObject(payload.metadata) && payload.metadata.cancelled === true
    return isCancelled ? ['cancelled', getMessage(payload)] : ['completed', null]
  }
  const reason = typeof payload.reason === 'string' ? payload.reason : null
  return [from === GATEWAY && reason === 'abandoned' ? 'abandoned' : 'cancelled', reason]
}

/** Runs that are kept of one turn. */
const maxRuns = 100

/** The run of the turn that this context is, or is nested in. */
const runIn = ({ runs }: TurnRecord, context: string | undefined): Run | undefined =>
  context === undefined
    ? undefined
    : runs.find((run) => run.context === context || isContextAncestor(run.context, context))

/** A context that is nested in a run of the turn is part of that run. */
export function openRun(turn: TurnRecord, context: string, opening: Quoted): void {
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

/** What was said before the first call of a run says why it is made; a run without words leaves what was said before. */
export function narrate(turn: TurnRecord, context: string | undefined): void {
  const run = runIn(turn, context)
  if (run === undefined || run.hasCalled) return
  run.hasCalled = true
  const said = run.lastThought ?? run.opening
  if (!isEmpty(said)) turn.narrative = said
}

/** What was withheld is not empty: nothing else may stand in its place. */
const isEmpty = ({ text }: Quoted): boolean => text !== null && isBlank(text)
