import { type Cut, isCutting, type Level, nothingCut } from '../model/index.js'

/** What a reader has chosen not to see. It stays in this tab, as the token does. */
export interface Choices {
  /** Those whose thoughts are not shown. */
  readonly muted: readonly string[]
  readonly cut: Cut
  /** Whether only what is searched for is shown. */
  readonly isHitsOnly: boolean
  /** Contexts that were folded or unfolded, the latest of them. */
  readonly folds: readonly (readonly [context: string, level: Level])[]
  /** Id of the line at the top, where that is not the live end. */
  readonly top: string | undefined
}

const nothing: Choices = { muted: [], cut: nothingCut, isHitsOnly: false, folds: [], top: undefined }
const keyOf = (space: string): string => `meup-choices:${space}`

export function keptChoices(space: string): Choices {
  const kept = sessionStorage.getItem(keyOf(space))
  return kept === null ? nothing : { ...nothing, ...(JSON.parse(kept) as Partial<Choices>) }
}

export function keepChoices(space: string, choices: Choices): void {
  const { muted, cut, isHitsOnly, folds, top } = choices
  const isNothing = muted.length + folds.length === 0 && !isCutting(cut) && !isHitsOnly && top === undefined
  if (isNothing) sessionStorage.removeItem(keyOf(space))
  else sessionStorage.setItem(keyOf(space), JSON.stringify(choices))
}
