import { compileSafety, defaultSafety, type Safety } from '@meup/safety'
import type { Guard } from './redact.js'

let safety: Safety | undefined

/** The rules of @meup/safety, compiled on first use. */
export const defaultGuard: Guard = (text) => {
  safety ??= compileSafety(defaultSafety)
  return safety.guard(text)
}
