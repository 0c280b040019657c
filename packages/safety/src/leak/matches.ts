import type { Pattern } from '../pattern.js'
import type { SecretRule } from '../settings.js'
import type { Span } from '../span.js'
import { aroundKeyword, surroundings } from '../surroundings.js'
import type { Detector } from './detector.js'
import { readerOf } from './match.js'
import { judgeOf } from './placeholder.js'
import { behindMatch } from './secret-end.js'

/** Compiles a rule to a search for the secrets that its pattern matches: around its keywords, or everywhere. */
export function searchAround(pattern: Pattern, rule: SecretRule): Detector['find'] {
  const search = compileSearch(pattern, judgeOf(rule))
  return (text, words, { isWanted }) => {
    if (rule.keywords === undefined) return search(text, [{ start: 0, end: text.length }])
    const ends = words.map(({ end }) => end)
    return search(text, surroundings(text, ends, aroundKeyword).filter(isWanted))
  }
}

/** Gives the secrets in spans of a text, which ascend and may overlap; none twice. */
type FindSecrets = (text: string, spans: readonly Span[]) => readonly Span[]

function compileSearch(pattern: Pattern, isSecret: (found: string) => boolean): FindSecrets {
  const read = readerOf(pattern.compiled)

  return (text, spans) => {
    const secrets: Span[] = []
    let at = 0
    for (const span of spans) {
      // With the character before, which tells whether a word begins.
      const from = Math.max(0, span.start - 1)
      const part = text.slice(from, span.end)
      // Where a match is takes ten times as long to tell as that there is one.
      if (!pattern.test(part)) continue
      const matcher = pattern.compiled.matcher(part)
      at = Math.max(at, span.start)
      while (at < span.end && matcher.find(at - from)) {
        const match = read(matcher, text, from, span.end)
        if (match === undefined) {
          at = from + matcher.start() + 1
          continue
        }
        const { start, secret } = match
        const isFound = secret.start < secret.end && isSecret(text.slice(secret.start, secret.end))
        if (isFound) secrets.push(secret)
        at = behindMatch(text, start, secret, isFound)
      }
    }
    return secrets
  }
}
