import { median } from '../report/section.js'

/** Share by which a ratio may be lower than the committed one. A lower ratio counts as a fall. */
export const maxFall = 0.15

/** Ratios by the name of the figure. */
type Ratios = Readonly<Record<string, number>>
/** Ratios by the class of the machine that measured them. */
export type RatiosByClass = Readonly<Record<string, Ratios>>

/** Returns the class of a machine. Ratios of machines of one class are comparable. */
export const machineClass = (machine: { processor: string; cores: number; node: string }): string =>
  `${machine.processor}, ${machine.cores} cores, Node ${/\d+/.exec(machine.node)?.[0]}`

export interface Comparison {
  /** Median of the measured ratios. */
  readonly ratio: number
  /** The committed ratio; `undefined` = there is none for this class of machines. */
  readonly committed: number | undefined
  readonly hasFallen: boolean
}

export function compareRatio(rounds: readonly number[], committed: number | undefined): Comparison {
  const ratio = median(rounds)
  // A ratio that is NaN counts as fallen.
  return { ratio, committed, hasFallen: committed !== undefined && !(ratio >= committed * (1 - maxFall)) }
}

/** Measures a figure, and once more if its ratio has fallen; then the median of the rounds of both measurements counts. */
export async function measureAndCompare(
  measure: () => Promise<readonly number[]>,
  committed: number | undefined,
): Promise<Comparison & { readonly rounds: readonly number[] }> {
  const rounds = [...(await measure())]
  if (compareRatio(rounds, committed).hasFallen) rounds.push(...(await measure()))
  return { ...compareRatio(rounds, committed), rounds }
}
