import type { BatchEnd, ReasoningStep, ReportedTurn, TurnFold, TurnHeading, TurnRecord } from '@meup/views'
import type { Entry } from '../ports/envelope-log.js'
import { envelopeOf } from '../space/replay.js'

/** Something, and the time of the log when it was done. */
interface Timed<Value> {
  readonly value: Value
  /** RFC 3339 */
  readonly at: string
}

/** What a stretch of the log did to the turns and steps; everything once, however often it changed. */
export interface Changes {
  readonly turns: Map<string, Timed<TurnRecord>>
  readonly steps: ReasoningStep[]
  readonly ends: Timed<BatchEnd<TurnRecord>>[]
}

export const noChanges = (): Changes => ({ turns: new Map(), steps: [], ends: [] })

/** Tells the fold of the next row, and adds what that did, unless it is from before `kept`: what was pruned stays pruned. */
export function take(
  fold: TurnFold,
  row: Pick<Entry, 'seq' | 'body'>,
  { turns, steps, ends }: Changes,
  kept: string,
): void {
  const change = fold.apply(envelopeOf(row))
  const { at } = change
  if (at < kept) return
  for (const value of change.turns) turns.set(value.id, { value, at })
  steps.push(...change.steps)
  ends.push(...change.updates.map((value) => ({ value, at })))
}

/** The later of two times. */
export const later = (one: string, other = ''): string => (one > other ? one : other)

/** As it is now: a turn of the fold goes on. Without what no event tells. */
export function reportedTurn({ decisions, runs, openBatches: _, ...turn }: TurnRecord): ReportedTurn {
  return {
    ...turn,
    runs: runs.map((run) => ({ ...run })),
    decisions: decisions.map(({ parameters, result, error, size, ...told }) => ({ ...told })),
  }
}

export function headingOf({ decisions, runs, openBatches, ...heading }: TurnRecord): TurnHeading {
  return heading
}
