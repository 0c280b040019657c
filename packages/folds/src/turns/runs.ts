import { isContextAncestor } from '@meup/protocol'
import type { Quoted } from '../source.js'
import { isBlank } from '../text.js'
import type { Run, TurnRecord } from './record.js'

/** Runs that are kept of one turn. */
const remembered = 100

/** The run of the turn that this context is, or is nested in. */
const runIn = ({ runs }: TurnRecord, context: string | undefined): Run | undefined =>
  context === undefined
    ? undefined
    : runs.find((run) => run.context === context || isContextAncestor(run.context, context))

/** A context that is nested in a run of the turn is part of that run. */
export function openRun(turn: TurnRecord, context: string, opening: Quoted): void {
  if (runIn(turn, context) !== undefined) return
  turn.runs.push({ context, opening, isOpen: true, hasCalled: false, lastThought: null })
  if (turn.runs.length <= remembered) return
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
