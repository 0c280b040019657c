import { compileSafety, defaultSafety, type Safety } from '@meup/safety'
import type { Guard } from './redact.js'

let safety: Safety | undefined

/** What masks secrets where the caller does not say how: the rules of @meup/safety, compiled when they are needed. */
export const defaultGuard: Guard = (text) => {
  safety ??= compileSafety(defaultSafety)
  return safety.guard(text)
}
