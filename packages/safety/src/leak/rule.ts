import type { LeakAction } from '../settings.js'
import type { Span } from '../spans.js'
import { behindMatch, type Detector } from './detector.js'
import { isPlaceholder, looksBegun, looksMadeUp, looksRandom } from './looks.js'

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

const isTyped = (value: string): boolean =>
  looksMadeUp(value) || looksRandom(value, { least: 10, allowsUuid: true })

const judges = {
  /** Not like what stands for a value. */
  said: (value: string) => !isPlaceholder(value),
  random: (value: string) => looksRandom(value, { least: 16, allowsUuid: true }),
  typed: isTyped,
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
}: BuiltInRule): Detector {
  let compiled: RegExp | undefined
  return {
    name,
    action,
    words: keywords,
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
