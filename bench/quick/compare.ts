import { median } from '../report/section.js'

/** Part of a committed ratio by which one may be lower: more is a fall. */
export const maxFall = 0.15

/** Ratios by the names of figures. */
type Ratios = Readonly<Record<string, number>>
/** Ratios by the class of the machine on which they were measured. */
export type RatiosByClass = Readonly<Record<string, Ratios>>

/** Machines whose ratios are comparable. */
export const machineClass = (machine: { processor: string; cores: number; node: string }): string =>
  `${machine.processor}, ${machine.cores} cores, Node ${/\d+/.exec(machine.node)?.[0]}`

export interface Comparison {
  /** Median of the rounds. */
  readonly ratio: number
  /** `undefined` = there is none for this class. */
  readonly committed: number | undefined
  readonly hasFallen: boolean
}

export function compareRatio(rounds: readonly number[], committed: number | undefined): Comparison {
  const ratio = median(rounds)
  // A ratio that is not a number counts as fallen.
  return { ratio, committed, hasFallen: committed !== undefined && !(ratio >= committed * (1 - maxFall)) }
}

/** Measures once more where the ratio has fallen, and compares the rounds of both measurements. */
export async function measureAndCompare(
  measure: () => Promise<readonly number[]>,
  committed: number | undefined,
): Promise<Comparison & { readonly rounds: readonly number[] }> {
  const rounds = [...(await measure())]
  if (compareRatio(rounds, committed).hasFallen) rounds.push(...(await measure()))
  return { ...compareRatio(rounds, committed), rounds }
}
