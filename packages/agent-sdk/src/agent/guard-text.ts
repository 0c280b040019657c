import { compileSafety, defaultSafety, type Safety } from '@meup/safety'

let safety: Safety | undefined

/** What may be seen of a text that nobody meant to publish: without secrets and prompt markers [MEUP-6.1]. */
export function guardText(text: string): string {
  safety ??= compileSafety(defaultSafety)
  return safety.guard(text).text
}
