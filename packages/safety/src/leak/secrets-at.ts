import type { Span } from '../span.js'
import type { Detector } from './detector.js'
import { behindMatch } from './secret-end.js'

/** Finds the secrets that a sticky expression matches at the start of words, of which those count that `isSecret`. */
export const secretsAt =
  (pattern: RegExp, isSecret: (found: string) => boolean): Detector['find'] =>
  (text, words, isWanted) => {
    const secrets: Span[] = []
    let at = 0
    for (const { start } of words) {
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
