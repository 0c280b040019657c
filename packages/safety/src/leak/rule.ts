import type { Matcher, RE2JS } from 're2js'
import { compileRulePattern } from '../pattern.js'
import type { LeakAction, SecretRule } from '../settings.js'
import { type Span, surroundings } from '../spans.js'
import { behindMatch, type Detector } from './detector.js'
import { isPlaceholder, looksBegun, looksMadeUp, looksRandom, mayBePassword } from './looks.js'
import type { PatternNeeds } from './pattern-needs.js'

/** A built-in rule. */
export interface BuiltInRule {
  readonly name: string
  /**
   * A JavaScript regular expression that is tried at each keyword. It takes bounded time there, or fails only at the end of a
   * run without keywords. The group `from` marks the beginning of the evidence. Other named groups are masked; without any, the
   * whole match after `from`.
   */
  readonly pattern: string
  readonly flags?: string
  /** In lower case. */
  readonly keywords: readonly string[]
  readonly action: LeakAction
  /** Additional condition on the match, if the pattern alone is not sufficient. */
  readonly looks?: keyof typeof judges
}

/** Includes requirements derived from its pattern when the rules are generated. */
export interface CompiledRule extends BuiltInRule, Pick<PatternNeeds, 'reach' | 'hasBlanks'> {
  /** A regular expression that is tried at words of prose; absent = it cannot match prose. */
  readonly inProse?: string
}

const isTyped = (value: string): boolean =>
  looksMadeUp(value) || looksRandom(value, { least: 10, allowsUuid: true })

const judges = {
  /** Not a placeholder. */
  said: (value: string) => !isPlaceholder(value),
  random: (value: string) => looksRandom(value, { least: 16, allowsUuid: true }),
  typed: isTyped,
  /** In a position of passwords only, however weak. */
  weak: mayBePassword,
  /** In a position without alternatives, anything but a description. */
  password: (value: string) =>
    !isPlaceholder(value) && (isTyped(value) || /^(?=.*[A-Za-z])(?=.*[\d!^#&+=%])\S{5,}$/.test(value)),
}

export function createDetector({
  name,
  action,
  pattern,
  flags = '',
  keywords,
  looks,
  reach = 0,
  hasBlanks = true,
}: BuiltInRule & Partial<CompiledRule>): Detector {
  let compiled: RegExp | undefined
  return {
    name,
    action,
    words: keywords,
    reach,
    hasBlanks,
    looksBack: /\(\?<from>/.test(pattern),
    isQuick: true,
    beginsSecrets: !/\(\?<\w/.test(pattern),
    find(text, words, { isWanted, seam = text.length }) {
      // Most rules are never used.
      compiled ??= new RegExp(pattern, `dy${flags}`)
      const secrets: Span[] = []
      let at = 0
      for (const { start } of words) {
        // Skips the match, because the same pattern may match repeatedly within it.
        if (start < at) continue
        compiled.lastIndex = start
        const match = compiled.exec(text)
        if (match === null) continue
        const end = start + match[0].length
        const { from: [from] = [start], ...groups } = match.indices?.groups ?? {}
        const named = Object.values(groups)
        for (const span of named.length > 0 ? named : [[start, end] as const]) {
          if (span === undefined) continue
          const [first, last] = span
          const value = text.slice(first, last)
          // In streamed pieces the value may continue.
          const isOpen = first < seam && seam < last && last === text.length && looksBegun(value)
          const isFound = looks === undefined || isOpen || judges[looks](value)
          const secret = { start: named.length > 0 ? first : from, end: last }
          if (isFound && isWanted({ start: Math.min(from, first), end })) secrets.push(secret)
          at = behindMatch(text, start, secret, isFound)
        }
      }
      return secrets
    },
  }
}

/** The name of the group to mask; without it, the whole match. */
const secretGroup = 'secret'
/** Characters of a match that leaves its span; one that continues beyond counts as endless. */
const maxMatchChars = 8192

/** Finds matches of an operator's rule with RE2 semantics: around its keywords, or everywhere. */
export function createOwnDetector(
  { name, action, pattern, keywords, generic }: SecretRule,
  path: string,
): Detector {
  const { compiled, test } = compileRulePattern(pattern, path)
  return {
    name,
    action,
    words: keywords ?? [],
    find(text, words, { isWanted }) {
      const places = words.map(({ end }) => end).sort((one, other) => one - other)
      const whole = { start: 0, end: text.length }
      const spans = keywords === undefined ? [whole] : surroundings(text, places).filter(isWanted)
      const secrets: Span[] = []
      let at = 0
      for (const { start: first, end } of spans) {
        // Includes the preceding character, which decides whether a word begins.
        const from = Math.max(0, first - 1)
        const part = text.slice(from, end)
        // Finding the position of a match takes ten times as long as testing for one.
        if (!test(part)) continue
        const matcher = compiled.matcher(part)
        at = Math.max(at, first)
        while (at < end && matcher.find(at - from)) {
          const start = from + matcher.start()
          const goesOn = from + matcher.end() === end && end < text.length
          const secret = goesOn ? secretFrom(compiled, text, start) : secretOf(compiled, matcher, from)
          if (secret === undefined) {
            at = start + 1
            continue
          }
          const value = text.slice(secret.start, secret.end)
          const isFound = value !== '' && (generic !== true || !isPlaceholder(value))
          if (isFound) secrets.push(secret)
          at = behindMatch(text, start, secret, isFound)
        }
      }
      return secrets
    },
  }
}

/** The span to mask of a match in the part of a text that begins at `from`. */
function secretOf(pattern: RE2JS, matcher: Matcher, from: number): Span {
  const isNamed = Object.hasOwn(pattern.namedGroups(), secretGroup) && matcher.start(secretGroup) >= 0
  const group = isNamed ? secretGroup : 0
  return { start: from + matcher.start(group), end: from + matcher.end(group) }
}

/** The span of a match that reaches the end of its part, and may be longer or void. */
function secretFrom(pattern: RE2JS, text: string, start: number): Span | undefined {
  const rest = text.slice(start, start + maxMatchChars)
  const matcher = pattern.matcher(rest)
  if (!matcher.lookingAt()) return undefined
  const secret = secretOf(pattern, matcher, start)
  return matcher.end() < rest.length ? secret : { ...secret, end: text.length }
}
