import type { Matcher, RE2JS } from 're2js'
import { compileRulePattern } from '../pattern.js'
import type { SecretRule } from '../settings.js'
import { type Span, surroundings } from '../spans.js'
import { behindMatch, type Detector } from './detector.js'
import { isPlaceholder } from './looks.js'

/** Name of the group to mask; without such a group, the whole match is masked. */
const secretGroup = 'secret'
/** Maximum characters of a match that extends beyond its part of the text; a longer match is taken to extend to the end. */
const maxMatchChars = 8192

/** Creates a detector for an operator's rule (RE2 syntax): searches around its keywords, or the whole text. */
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
        // Includes the preceding character, because it decides whether a word begins.
        const from = Math.max(0, first - 1)
        const part = text.slice(from, end)
        // Tests first, because finding the position of a match takes ten times as long.
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

/** Returns the span to mask. `from`: offset of the searched part in the text. */
function secretOf(pattern: RE2JS, matcher: Matcher, from: number): Span {
  const isNamed = Object.hasOwn(pattern.namedGroups(), secretGroup) && matcher.start(secretGroup) >= 0
  const group = isNamed ? secretGroup : 0
  return { start: from + matcher.start(group), end: from + matcher.end(group) }
}

/** Repeats a match that reaches the end of the searched part: in the whole text it may be longer, or not match. */
function secretFrom(pattern: RE2JS, text: string, start: number): Span | undefined {
  const rest = text.slice(start, start + maxMatchChars)
  const matcher = pattern.matcher(rest)
  if (!matcher.lookingAt()) return undefined
  const secret = secretOf(pattern, matcher, start)
  return matcher.end() < rest.length ? secret : { ...secret, end: text.length }
}
