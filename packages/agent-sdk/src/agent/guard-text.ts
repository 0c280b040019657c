import { getGuards } from '#guard'

/** Masks secrets and prompt markers in a text that was not written for publication [MEUP-6.1]. Call `loadGuards` first. */
export function guardText(text: string): string {
  const guards = getGuards()
  if (guards === undefined) throw new Error('the scanner for secrets is not loaded')
  return guards.guardText(text)
}
