import type { Quoted } from '../source.js'
import { settle } from './decisions.js'
import type { Ledger } from './ledger.js'
import type { Run, ToolDecision, TurnRecord, TurnState } from './record.js'

/** The first answer ends a turn, unless the asker did not want it any more. */
export function answer(turn: TurnRecord, said: Quoted, state: TurnState, now: string): void {
  if (turn.answer !== null) return
  turn.answer = said
  if (state === 'error') turn.error = said.text
  if (!turn.isTakenBack && turn.turnNumber !== null) finish(turn, state, now)
}

/** One of its runs has ended. A job ends with its run; a turn whose runs were all cancelled is not answered any more. */
export function endRun(
  turn: TurnRecord,
  run: Run,
  state: TurnState,
  reason: string | null,
  now: string,
): void {
  run.isOpen = false
  const isLast = !turn.runs.some(({ isOpen }) => isOpen)
  if (turn.state !== 'running' || !isLast || (turn.turnNumber !== null && state === 'completed')) return
  turn.error = reason
  finish(turn, state, now)
}

/** The asker takes the trigger back. */
export function takeBack(turn: TurnRecord, reason: string | null, now: string): void {
  turn.isTakenBack = true
  if (turn.state !== 'running') return
  turn.error = reason
  finish(turn, 'cancelled', now)
}

/** More is done after the end; without an answer the turn is under way again. */
export function resume(turn: TurnRecord): void {
  if (turn.answer !== null || turn.isTakenBack || turn.turnNumber === null) return
  turn.state = 'running'
  turn.error = null
  turn.completedAt = null
}

/** Ends those of its calls that nobody waits for any more. */
export function abandon(ledger: Ledger, turn: TurnRecord, isMeant: (call: ToolDecision) => boolean): void {
  const { seq } = ledger
  ledger.touch(turn)
  for (const call of turn.decisions) {
    if (call.outcome !== null || !isMeant(call)) continue
    if (settle(turn, call.id, { seq, source: null, outcome: 'error', text: 'cancelled', isAnswer: false }))
      ledger.update(turn)
  }
}

function finish(turn: TurnRecord, state: TurnState, now: string): void {
  turn.state = state
  turn.completedAt = now
}
