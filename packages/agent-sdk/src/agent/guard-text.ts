import { getGuards } from '#guard'

/** What may be seen of a text that nobody meant to publish: without secrets and prompt markers [MEUP-6.1]. `loadGuards` comes first. */
export function guardText(text: string): string {
  const guards = getGuards()
  if (guards === undefined) throw new Error('what finds secrets in texts is not loaded')
  return guards.guardText(text)
}
