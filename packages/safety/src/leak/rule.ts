import type { Matcher, RE2JS } from 're2js'
import { compilePattern } from '../pattern.js'
import type { LeakAction, SecretRule } from '../settings.js'
import { type Span, surroundings } from '../spans.js'
import { behindMatch, type Detector } from './detector.js'
import { isPlaceholder, looksBegun, looksMadeUp, looksRandom, mayBePassword } from './looks.js'
import type { PatternNeeds } from './pattern-needs.js'

/** A rule of this package. */
export interface BuiltInRule {
  readonly name: string
  /**
   * A regular expression of JavaScript that is tried where a keyword begins. It takes a bounded time there, or fails only
   * where a run of characters ends in which no keyword is. The group named `from` is where the evidence begins. Other
   * named groups are what must not be seen; without any, the match is, with all behind `from`.
   */
  readonly pattern: string
  readonly flags?: string
  /** In lower case. */
  readonly keywords: readonly string[]
  readonly action: LeakAction
  /** How what the pattern matches has to look, where the pattern alone does not tell that it is a secret. */
  readonly looks?: keyof typeof judges
}

/** With what is read from its pattern when the rules are generated. */
export interface CompiledRule extends BuiltInRule, Pick<PatternNeeds, 'reach' | 'hasBlanks'> {
  /** Where it may match prose: a regular expression that is tried where a word begins; absent = nowhere. */
  readonly inProse?: string
}

const isTyped = (value: string): boolean =>
  looksMadeUp(value) || looksRandom(value, { least: 10, allowsUuid: true })

const judges = {
  /** Not like what stands for a value. */
  said: (value: string) => !isPlaceholder(value),
  random: (value: string) => looksRandom(value, { least: 16, allowsUuid: true }),
  typed: isTyped,
  /** Where a password alone stands, and be it a weak one. */
  weak: mayBePassword,
  /** Where nothing else is expected, anything that is not the word for it. */
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
      // Most rules never are asked.
      compiled ??= new RegExp(pattern, `dy${flags}`)
      const secrets: Span[] = []
      let at = 0
      for (const { start } of words) {
        // What was found is skipped: the same may begin in it again and again.
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
          // What is said in pieces may go on.
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

/** The name of the group around what must not be seen; without it, that is the whole match. */
const secretGroup = 'secret'
/** Characters of a match that leaves its span; one that goes on behind them is taken to never end. */
const maxMatchChars = 8192

/** Finds what the pattern of an operator's rule matches, as RE2 does: around its keywords, or everywhere. */
export function createOwnDetector(
  { name, action, pattern, keywords, generic }: SecretRule,
  path: string,
): Detector {
  const { compiled, test } = compilePattern(pattern, path)
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
        // With the character before, which tells whether a word begins.
        const from = Math.max(0, first - 1)
        const part = text.slice(from, end)
        // Where a match is takes ten times as long to tell as that there is one.
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

/** What must not be seen of a match in the part of a text that begins at `from`. */
function secretOf(pattern: RE2JS, matcher: Matcher, from: number): Span {
  const isNamed = Object.hasOwn(pattern.namedGroups(), secretGroup) && matcher.start(secretGroup) >= 0
  const group = isNamed ? secretGroup : 0
  return { start: from + matcher.start(group), end: from + matcher.end(group) }
}

/** Of a match that goes up to the end of its part, which may be longer, or none. */
function secretFrom(pattern: RE2JS, text: string, start: number): Span | undefined {
  const rest = text.slice(start, start + maxMatchChars)
  const matcher = pattern.matcher(rest)
  if (!matcher.lookingAt()) return undefined
  const secret = secretOf(pattern, matcher, start)
  return matcher.end() < rest.length ? secret : { ...secret, end: text.length }
}
