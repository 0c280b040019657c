import { SafetyError } from '../error.js'
import { compilePattern, compilePrefixPattern } from '../pattern.js'
import type { SecretRule } from '../settings.js'
import { aroundKeyword, phraseEnd, surroundings } from '../surroundings.js'
import type { Detector } from './detector.js'
import { compileHead } from './head.js'
import { compileSearch } from './matches.js'
import type { Locator } from './native.js'
import { searchOf } from './natives.js'
import { isPlaceholder } from './placeholder.js'
import { compilePrefixSearch } from './prefixes.js'
import { secretsAt } from './secrets-at.js'

/**
 * Compiles the rule that stands at `path` in the settings. Throws SafetyError if it can't be used. Where matches are may be
 * told by another than RE2.
 */
export function compileRule(rule: SecretRule, path: string, native?: Locator): Detector {
  const { name, pattern, keywords, action } = rule
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
  const compiled = compilePattern(pattern, `${path}/pattern`)
  const search = compileSearch(
    native === undefined ? compiled : { ...compiled, compiled: native },
    judgeOf(rule),
  )
  return {
    name,
    action,
    words: keywords ?? [],
    find: (text, words, isWanted) => {
      if (keywords === undefined) return search(text, [{ start: 0, end: text.length }])
      const ends = words.map(({ end }) => end)
      return search(text, surroundings(text, ends, aroundKeyword).filter(isWanted))
    },
  }
}

/**
 * Compiles a rule of this package. Where its pattern says how a match begins, it only looks there; where JavaScript
 * surely matches all of it in linear time, RE2 has no part in it.
 */
export function compileBuiltIn(rule: SecretRule): Detector {
  const { name, pattern, action } = rule
  const head = compileHead(pattern)
  if (head === undefined) return compileRule(rule, `/built-in/${name}`, searchOf(pattern))
  const { starts: words, glance, isWhole, extent, native } = head
  const judge = judgeOf(rule)
  // It skips what it has found, where the same may begin again and again.
  if (isWhole) return { name, action, words, find: secretsAt(glance, judge) }
  const find = compilePrefixSearch(compilePrefixPattern(pattern, native), judge, endOfMatch(extent))
  return { name, action, words, glance, find }
}

/** Where a match that starts at a place has ended, if there is one. */
const endOfMatch =
  (extent: RegExp | undefined) =>
  (text: string, start: number): number => {
    if (extent === undefined) return phraseEnd(text, start)
    extent.lastIndex = start
    return extent.test(text) ? extent.lastIndex : start
  }

const judgeOf =
  ({ generic }: SecretRule) =>
  (found: string): boolean =>
    generic !== true || !isPlaceholder(found)
