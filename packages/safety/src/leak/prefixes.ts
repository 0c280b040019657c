import type { PrefixPattern } from '../pattern.js'
import { ascending, type Span } from '../span.js'
import { behindStart, surroundings } from '../surroundings.js'
import type { Detector } from './detector.js'
import { readerOf } from './match.js'
import { expressionOf } from './native.js'
import { behindMatch } from './secret-end.js'

/** Characters that are looked at, for each of a text: many matches might have the same ones. */
const mostReading = 8
/** More, for short texts. */
const leastReading = 4096

/**
 * Compiles a pattern to a search for the secrets that it matches where words start; `endOf` gives where a match there
 * has ended, if there is one. What makes it look at the same characters all over again is secret as it is, if there is
 * any match in it.
 */
export function compilePrefixSearch(
  pattern: PrefixPattern,
  isSecret: (found: string) => boolean,
  endOf: (text: string, start: number) => number,
): Detector['find'] {
  const read = readerOf(pattern.compiled)

  return (text, words, { isWanted }) => {
    const secrets: Span[] = []
    const starts = ascending(
      words.map(({ start }) => start),
      (start) => start,
    )
    let at = 0
    let left = mostReading * text.length + leastReading
    for (const [index, start] of starts.entries()) {
      if (start < at) continue
      if (left < 0) {
        const spans = surroundings(text, starts.slice(index), behindStart)
        const isIn = (span: Span): boolean => isWanted(span) && pattern.test(text.slice(span.start, span.end))
        return [...secrets, ...spans.filter(isIn)]
      }
      const end = endOf(text, start)
      left -= end - start
      if (!isWanted({ start, end })) continue
      const part = text.slice(start, end)
      if (!pattern.begins(part)) continue
      const matcher = pattern.compiled.matcher(part)
      const match = matcher.lookingAt() ? read(matcher, text, start, end) : undefined
      if (match === undefined) continue
      const { secret } = match
      const isFound = secret.start < secret.end && isSecret(text.slice(secret.start, secret.end))
      if (isFound) secrets.push(secret)
      at = behindMatch(text, start, secret, isFound)
    }
    return secrets
  }
}

/** Finds the secrets that an expression matches where words start, of which those count that `isSecret`. */
export function secretsAt(source: string, isSecret: (found: string) => boolean): Detector['find'] {
  const pattern = expressionOf(source, 'y')
  return (text, words, { isWanted }) => {
    const secrets: Span[] = []
    let at = 0
    for (const { start } of words) {
      // What was found is skipped: the same may begin in it again and again.
      if (start < at) continue
      pattern.lastIndex = start
      const match = pattern.exec(text)
      if (match === null) continue
      const [from, to] = match.indices?.groups?.secret ?? [start, start + match[0].length]
      const secret = { start: from, end: to }
      const isFound = to > from && isSecret(text.slice(from, to))
      if (isFound && isWanted({ start, end: to })) secrets.push(secret)
      at = behindMatch(text, start, secret, isFound)
    }
    return secrets
  }
}
