import { type Envelope, GATEWAY, Kind } from '@meup/protocol'
import type { Quoted } from '../source.js'
import { isObject, messageOf } from '../text.js'
import type { Run, TurnRecord, TurnState } from './record.js'

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
export function endOf({ kind, from, payload }: Envelope): [state: TurnState, reason: string | null] {
  if (kind === Kind.reasoningConclusion) {
    const isCancelled = isObject(payload.metadata) && payload.metadata.cancelled === true
    return isCancelled ? ['cancelled', messageOf(payload)] : ['completed', null]
  }
  const reason = typeof payload.reason === 'string' ? payload.reason : null
  return [from === GATEWAY && reason === 'abandoned' ? 'abandoned' : 'cancelled', reason]
}
