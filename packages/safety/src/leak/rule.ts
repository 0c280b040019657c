import type { BuiltInRule } from '../built-in-rules.js'
import { compilePattern, compilePrefixPattern, type Pattern } from '../pattern.js'
import type { SecretRule } from '../settings.js'
import { aroundKeyword, phraseEnd, surroundings } from '../surroundings.js'
import type { Detector } from './detector.js'
import { type Head, locatorOf, sticky } from './head.js'
import { compileSearch } from './matches.js'
import { searchOf } from './natives.js'
import { isPlaceholder } from './placeholder.js'
import { compilePrefixSearch } from './prefixes.js'
import { secretsAt } from './secrets-at.js'

/** Compiles the rule that stands at `path` in the settings. Throws SafetyError if its pattern can't be used. */
export function compileRule(rule: SecretRule, path: string): Detector {
  return searchBy(compilePattern(rule.pattern, `${path}/pattern`), rule)
}

/** Where its keywords are, or everywhere; nowhere in a text that has nothing of what each match needs. */
function searchBy(pattern: Pattern, rule: SecretRule, needs?: RegExp): Detector {
  const { name, keywords, action } = rule
  const search = compileSearch(pattern, judgeOf(rule))
  return {
    name,
    action,
    words: keywords ?? [],
    find: (text, words, isWanted) => {
      if (needs?.test(text) === false) return []
      if (keywords === undefined) return search(text, [{ start: 0, end: text.length }])
      const ends = words.map(({ end }) => end)
      return search(text, surroundings(text, ends, aroundKeyword).filter(isWanted))
    },
  }
}

/**
 * Compiles a rule of this package. Where its pattern says how a match begins, it only looks there; where JavaScript
 * surely matches all of it in linear time, RE2 has no part in it. What finds the rest is compiled when it is first
 * asked: most rules never are.
 */
export function compileBuiltIn(rule: BuiltInRule, head: Head | undefined): Detector {
  const { name, pattern, action, keywords = [] } = rule
  const needs = needsOf(rule)
  if (head === undefined) {
    const find = whenAsked(() => searchBy(patternOf(rule, needs), rule, needs).find)
    return { name, action, words: keywords, find }
  }
  const judge = judgeOf(rule)
  const at = { name, action, words: head.starts, isAtWords: true }
  // It skips what it has found, where the same may begin again and again.
  if (head.isWhole) return { ...at, find: whenAsked(() => secretsAt(sticky(head.glance), judge)) }
  const find = whenAsked(() => {
    const prefix = compilePrefixPattern(pattern, locatorOf(pattern))
    const begins =
      needs === undefined ? prefix.begins : (text: string) => needs.test(text) && prefix.begins(text)
    return compilePrefixSearch({ ...prefix, begins }, judge, endOfMatch(head))
  })
  return { ...at, glance: new RegExp(head.glance, 'y'), find }
}

function whenAsked(compile: () => Detector['find']): Detector['find'] {
  let find: Detector['find'] | undefined
  return (...asked) => {
    find ??= compile()
    return find(...asked)
  }
}

/** What JavaScript finds by itself needs no test before: to look for a match takes no longer. */
function patternOf({ name, pattern }: BuiltInRule, needs: RegExp | undefined): Pattern {
  const native = searchOf(pattern)
  if (native !== undefined) return { compiled: native, test: () => true }
  const compiled = compilePattern(pattern, `/built-in/${name}`)
  if (needs === undefined) return compiled
  return { ...compiled, test: (text) => needs.test(text) && compiled.test(text) }
}

const needsOf = ({ needs }: BuiltInRule): RegExp | undefined =>
  needs === undefined ? undefined : new RegExp(needs, 'i')

/** Where a match that starts at a place has ended, if there is one. */
function endOfMatch({ extent }: Head): (text: string, start: number) => number {
  if (extent === undefined) return phraseEnd
  const expression = new RegExp(extent, 'y')
  return (text, start) => {
    expression.lastIndex = start
    return expression.test(text) ? expression.lastIndex : start
  }
}

const judgeOf =
  ({ generic }: SecretRule) =>
  (found: string): boolean =>
    generic !== true || !isPlaceholder(found)
