import { getGuards } from '#guard'

/** Removes secrets and prompt markers from a text that was not written for publication [MEUP-6.1]. Needs `loadGuards` first. */
export function guardText(text: string): string {
  const guards = getGuards()
  if (guards === undefined) throw new Error('what finds secrets in texts is not loaded')
  return guards.guardText(text)
}
