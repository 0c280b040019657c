const keyOf = (space: string): string => `meup-draft:${space}`

/** What somebody has written and not said yet. It stays in this tab, whatever becomes of the session. */
export const keptDraft = (space: string): string => sessionStorage.getItem(keyOf(space)) ?? ''

export function keepDraft(space: string, text: string): void {
  if (text === '') sessionStorage.removeItem(keyOf(space))
  else sessionStorage.setItem(keyOf(space), text)
}
