import type { HttpTarget } from '@meup/agent-sdk/http'
import { type Cut, isCutting, type Level, nothingCut } from '../model/index.js'

const tokenKey = (space: string): string => `meup-token:${space}`
const lastSpace = 'meup-space'

/** A token stays in this tab, and goes with it. */
export const loadToken = (space: string): string | undefined =>
  sessionStorage.getItem(tokenKey(space)) ?? undefined
export function saveToken({ space, token }: HttpTarget): void {
  if (token !== undefined) sessionStorage.setItem(tokenKey(space), token)
  localStorage.setItem(lastSpace, space)
}
export const removeToken = (space: string): void => sessionStorage.removeItem(tokenKey(space))
/** Whether this tab is signed in with another token. */
export const hasOtherToken = (token: string): boolean =>
  Object.entries(sessionStorage).some(([key, kept]) => key.startsWith(tokenKey('')) && kept !== token)
export const loadLastSpace = (): string => localStorage.getItem(lastSpace) ?? ''

/** The reader's choices. They are kept per tab, as the token is. */
export interface Choices {
  /** Those whose thoughts are not shown. */
  readonly muted: readonly string[]
  readonly cut: Cut
  /** Contexts that were folded or unfolded, the latest of them. */
  readonly folds: readonly (readonly [context: string, level: Level])[]
  /** Id of the line at the top, where that is not the live end. */
  readonly top: string | undefined
}

const noChoices: Choices = { muted: [], cut: nothingCut, folds: [], top: undefined }
const choicesKey = (space: string): string => `meup-choices:${space}`

export function loadChoices(space: string): Choices {
  const kept = sessionStorage.getItem(choicesKey(space))
  return kept === null ? noChoices : { ...noChoices, ...(JSON.parse(kept) as Partial<Choices>) }
}

export function saveChoices(space: string, choices: Choices): void {
  const { muted, cut, folds, top } = choices
  const isNothing = muted.length + folds.length === 0 && !isCutting(cut) && top === undefined
  if (isNothing) sessionStorage.removeItem(choicesKey(space))
  else sessionStorage.setItem(choicesKey(space), JSON.stringify(choices))
}

const draftKey = (space: string): string => `meup-draft:${space}`

/** The unsent message. It is kept per tab, even if the session ends. */
export const loadDraft = (space: string): string => sessionStorage.getItem(draftKey(space)) ?? ''

export function saveDraft(space: string, text: string): void {
  if (text === '') sessionStorage.removeItem(draftKey(space))
  else sessionStorage.setItem(draftKey(space), text)
}
