import { compileSafety, defaultSafety, type Safety } from '@meup/safety'
import type { Guard } from './redact.js'

let safety: Safety | undefined

/** The rules of @meup/safety, compiled at the first call. */
export const defaultGuard: Guard = (text) => {
  safety ??= compileSafety(defaultSafety)
  return safety.guard(text)
}
