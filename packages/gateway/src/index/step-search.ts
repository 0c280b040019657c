import { phaseBits } from '@meup/folds'
import type { Phase } from '@meup/protocol'

export interface StepQuery {
  readonly turn?: number
  readonly agents?: readonly string[]
  readonly phases?: readonly Phase[]
  /** Milliseconds; `since` is included, `until` is not. */
  readonly since?: number
  readonly until?: number
  readonly before: number
  readonly limit: number
}

/** Seqs among which steps are looked for: `end` is excluded. */
export interface Stretch {
  readonly space: number
  readonly first: number
  readonly end: number
  /** The last seq of the index. */
  readonly last: number
}

export interface StepSearch {
  /** Ends in a limit, whose value is the last one. */
  readonly sql: string
  readonly values: readonly (string | number)[]
  /** The smallest seq that it looks at, where it looks at a part only. */
  readonly floor: number | undefined
}

/** A search that no index helps looks at envelopes in such parts, which begin at the same places whatever is in them. */
export const searched = 20_000

/** How marks with steps are found, of the newest envelopes first. */
export function stepSearch(
  { turn, agents, phases }: StepQuery,
  { space, first, end, last: head }: Stretch,
): StepSearch {
  const bits = phases?.reduce((sum, phase) => sum | phaseBits[phase], 0) ?? 0
  const isRare = phases?.length === 1 && bits !== phaseBits.thinking && turn === undefined
  const isHelped = turn !== undefined || (agents === undefined && (phases === undefined || isRare))
  const last = Math.min(end - 1, head)
  const part = isHelped ? first : Math.max(first, last - (last % searched))
  const conditions = ['space = ? AND seq >= ? AND seq < ? AND steps > 0']
  if (turn !== undefined) conditions.push(`turn = ${turn}`)
  if (phases !== undefined) conditions.push(`phases & ${bits} <> 0`)
  const by = turn !== undefined ? 'INDEXED BY marks_turn' : isRare ? `INDEXED BY marks_phase_${bits}` : ''
  if (agents !== undefined) {
    const names = agents.map(() => '?').join(', ')
    conditions.push(
      `(SELECT agent FROM turns WHERE turns.space = marks.space AND turns.turn = marks.turn) IN (${names})`,
    )
  }
  const found = `marks ${by} WHERE ${conditions.join(' AND ')} ORDER BY seq DESC, place DESC LIMIT ?`
  return {
    sql: `SELECT seq, turn, at, step, steps, start FROM ${found}`,
    values: [space, part, end, ...(agents ?? [])],
    floor: part > first ? part : undefined,
  }
}
