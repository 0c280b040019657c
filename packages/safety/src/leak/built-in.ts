import { compilePattern, compilePrefixPattern, type Pattern } from '../pattern.js'
import type { SecretRule } from '../settings.js'
import { phraseEnd } from '../surroundings.js'
import type { Detector } from './detector.js'
import { searchAround } from './matches.js'
import { nativeLocator } from './native.js'
import { judgeOf } from './placeholder.js'
import { compilePrefixSearch, secretsAt } from './prefixes.js'

/**
 * What finds the matches of a pattern sooner than RE2: sources of expressions of JavaScript that take linear time. To
 * find them out takes long, so the build does it (scripts/patterns).
 */
export interface CompiledPattern {
  /** In lower case. Each match begins with one of them; absent where it is not known how matches begin. */
  readonly starts?: readonly string[]
  /** Matches at a start wherever the pattern does, and maybe elsewhere; absent where `whole` takes no longer. */
  readonly glance?: string
  /** Where there is a match at a start, it ends where this does, or before; absent where that is not known. */
  readonly extent?: string
  /** Finds what the pattern does; beside a `glance`, only where it is known to match. Absent where RE2 alone does. */
  readonly whole?: string
  /** The characters of a run that `whole` begins with: it is tried where such a run begins, and not all along it. */
  readonly notBehind?: string
}

/** A rule of this package. */
export interface BuiltInRule extends SecretRule, CompiledPattern {
  /**
   * A regular expression of JavaScript that takes linear time and ignores case. Each match of the pattern, read from its
   * beginning, has a match of this; so does each text that such a match is in, unless it begins with `^`, which it only does
   * in rules whose pattern says how a match begins. It tells of most texts, sooner than RE2, that there is no match.
   */
  readonly needs?: string
}

/**
 * Compiles a rule of this package. Where it is known how a match begins, it only looks there. What finds the rest is
 * compiled when it is first asked: most rules never are.
 */
export function compileBuiltIn(rule: BuiltInRule): Detector {
  const { name, action, keywords = [], starts, glance } = rule
  if (starts === undefined) return { name, action, words: keywords, find: findAround(rule) }
  const find = whenAsked(() => findAtStarts(rule))
  const at = { name, action, words: starts, isAtWords: true, find }
  return glance === undefined ? at : { ...at, glance: new RegExp(glance, 'y') }
}

function whenAsked(compile: () => Detector['find']): Detector['find'] {
  let find: Detector['find'] | undefined
  return (...asked) => {
    find ??= compile()
    return find(...asked)
  }
}

/** Finds nothing in a text that has nothing of what each match needs. */
function findAround(rule: BuiltInRule): Detector['find'] {
  const needs = needsOf(rule)
  const find = whenAsked(() => searchAround(patternOf(rule, needs), rule))
  return needs === undefined ? find : (text, ...asked) => (needs.test(text) ? find(text, ...asked) : [])
}

/** What JavaScript finds by itself needs no test before: to look for a match takes no longer. */
function patternOf({ name, pattern, whole, notBehind }: BuiltInRule, needs: RegExp | undefined): Pattern {
  if (whole !== undefined) return { compiled: nativeLocator(whole, notBehind), test: () => true }
  const compiled = compilePattern(pattern, `/built-in/${name}`)
  if (needs === undefined) return compiled
  return { ...compiled, test: (text) => needs.test(text) && compiled.test(text) }
}

function findAtStarts(rule: BuiltInRule): Detector['find'] {
  const { pattern, glance, whole } = rule
  const judge = judgeOf(rule)
  if (glance === undefined && whole !== undefined) return secretsAt(whole, judge)
  const needs = needsOf(rule)
  const prefix = compilePrefixPattern(pattern, whole === undefined ? undefined : nativeLocator(whole))
  const begins =
    needs === undefined ? prefix.begins : (text: string) => needs.test(text) && prefix.begins(text)
  return compilePrefixSearch({ ...prefix, begins }, judge, endOfMatch(rule))
}

const needsOf = ({ needs }: BuiltInRule): RegExp | undefined =>
  needs === undefined ? undefined : new RegExp(needs, 'i')

/** Where a match that starts at a place has ended, if there is one. */
function endOfMatch({ extent }: BuiltInRule): (text: string, start: number) => number {
  if (extent === undefined) return phraseEnd
  const expression = new RegExp(extent, 'y')
  return (text, start) => {
    expression.lastIndex = start
    return expression.test(text) ? expression.lastIndex : start
  }
}
