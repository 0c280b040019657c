import { SafetyError } from '../error.js'
import { compilePattern } from '../pattern.js'
import type { LeakAction, SecretRule } from '../settings.js'
import { compileSearch, type FindSecrets } from './matches.js'
import { isPlaceholder } from './placeholder.js'

/** What finds one kind of secret. */
export interface Detector {
  readonly name: string
  readonly action: LeakAction
  /** It only looks around them; without any, everywhere. */
  readonly keywords: readonly string[]
  readonly find: FindSecrets
}

/** Compiles the rule that stands at `path` in the settings. Throws SafetyError if it can't be used. */
export function compileRule(
  { name, pattern, keywords, action, generic }: SecretRule,
  path: string,
): Detector {
  if (keywords?.length === 0) {
    throw new SafetyError(
      `${path}/keywords`,
      'is empty, so the rule would never run; leave it out, or name some',
    )
  }
  keywords?.forEach((keyword, index) => {
    const at = `${path}/keywords/${index}`
    if (keyword === '') throw new SafetyError(at, 'is empty, so it would be everywhere')
    if (keyword !== keyword.toLowerCase())
      throw new SafetyError(at, 'is not in lower case, as keywords must be')
  })
  const isSecret = generic === true ? (found: string) => !isPlaceholder(found) : () => true
  const find = compileSearch(compilePattern(pattern, `${path}/pattern`), isSecret)
  return { name, action, keywords: keywords ?? [], find }
}
