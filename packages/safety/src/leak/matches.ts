import type { Pattern } from '../pattern.js'
import type { Span } from '../span.js'
import { readerOf } from './match.js'
import { behindMatch } from './secret-end.js'

/** Gives the secrets in spans of a text, which ascend and may overlap; none twice. */
export type FindSecrets = (text: string, spans: readonly Span[]) => readonly Span[]

/** Compiles a pattern to a search for the secrets that it matches, of which those count that `isSecret`. */
export function compileSearch(pattern: Pattern, isSecret: (found: string) => boolean): FindSecrets {
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
