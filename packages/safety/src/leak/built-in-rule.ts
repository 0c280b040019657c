// The form of `src/rules/*.json`; `scripts/generate.ts` compiles them to `generated/rules.ts`.

import type { LeakAction } from '../settings.js'
import type { Span } from '../spans.js'
import { behindMatch, type Detector } from './detector.js'
import { isPlaceholder, looksBegun, looksMadeUp, looksRandom, mayBePassword } from './looks.js'
import type { PatternNeeds } from './pattern-needs.js'

export interface BuiltInRule {
  readonly name: string
  /**
   * A JavaScript regular expression that is tried at each keyword. To keep the total time linear, it must take bounded time at
   * each keyword, or fail only at the end of a run of characters without keywords. The group `from` marks the beginning of the
   * evidence. Other named groups are masked; without any, the whole match after `from`.
   */
  readonly pattern: string
  readonly flags?: string
  /** Words around which the pattern is tried, in lower case. */
  readonly keywords: readonly string[]
  readonly action: LeakAction
  /** Additional test for the matched value, if the pattern alone is not sufficient. */
  readonly looks?: keyof typeof judges
}

/** A rule with properties of its pattern, which are derived when the rules are generated. */
export interface CompiledRule
  extends BuiltInRule,
    Pick<PatternNeeds, 'reach' | 'hasBlanks'>,
    Pick<Detector, 'isLabelled'> {
  /** A regular expression for the matches that may occur in prose; absent = the rule cannot match prose. */
  readonly inProse?: string
}

const isTyped = (value: string): boolean =>
  looksMadeUp(value) || looksRandom(value, { least: 10, allowsUuid: true })

const judges = {
  /** For values after a label: any value but a placeholder. */
  said: (value: string) => !isPlaceholder(value),
  random: (value: string) => looksRandom(value, { least: 16, allowsUuid: true }),
  typed: isTyped,
  /** For values after a password label: also weak passwords. */
  weak: mayBePassword,
  /** For values in a position that only passwords have: any value but a description. */
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
  isLabelled = false,
}: BuiltInRule & Partial<CompiledRule>): Detector {
  let compiled: RegExp | undefined
  return {
    name,
    action,
    words: keywords,
    reach,
    hasBlanks,
    isLabelled,
    looksBack: /\(\?<from>/.test(pattern),
    isQuick: true,
    beginsSecrets: !/\(\?<\w/.test(pattern),
    find(text, words, { isWanted, seam = text.length }) {
      // Compiles the pattern on first use, because most rules are never used.
      compiled ??= new RegExp(pattern, `dy${flags}`)
      const secrets: Span[] = []
      let at = 0
      for (const { start } of words) {
        // Skips keywords within the previous match: otherwise the pattern would match the same text again from each of them.
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
          // If the text is a piece of a stream, the value may continue in the next piece, so the beginning of a random value
          // suffices.
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
