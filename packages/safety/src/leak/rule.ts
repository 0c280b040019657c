import type { LeakAction } from '../settings.js'
import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { isPlaceholder } from './placeholder.js'
import { looksLikePassword, looksRandom } from './random.js'
import { behindMatch } from './secret-end.js'

/** A rule of this package. */
export interface BuiltInRule {
  readonly name: string
  /**
   * A regular expression of JavaScript that is tried where a keyword begins. It takes a bounded time there, or fails only
   * where a run of characters ends in which no keyword is. The group named `secret`, where there is one, is what must not
   * be seen; else the match is, from the group named `from` on, which is where that begins, or what tells it.
   */
  readonly pattern: string
  readonly flags?: string
  /** In lower case. */
  readonly keywords: readonly string[]
  readonly action: LeakAction
  /** How what the pattern matches has to look, where the pattern alone does not tell that it is a secret. */
  readonly looks?: keyof typeof judges
}

const judges = {
  /** Not like what stands for a value. */
  said: (found: string): boolean => !isPlaceholder(found),
  random: (found: string): boolean => looksRandom(found, { least: 16, allowsUuid: true }),
  password: looksLikePassword,
}

export function detectorOf({ name, action, pattern, flags = '', keywords, looks }: BuiltInRule): Detector {
  let compiled: RegExp | undefined
  return {
    name,
    action,
    words: keywords,
    isQuick: true,
    beginsSecrets: !/\(\?<(?:from|secret)>/.test(pattern),
    find(text, words, { isWanted }) {
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
        const groups = match.indices?.groups
        const from = groups?.from?.[0] ?? start
        const [first, last] = groups?.secret ?? [from, end]
        const secret = { start: first, end: last }
        const isFound = looks === undefined || judges[looks](match.groups?.secret ?? match[0])
        if (isFound && isWanted({ start: Math.min(from, first), end })) secrets.push(secret)
        at = behindMatch(text, start, secret, isFound)
      }
      return secrets
    },
  }
}
