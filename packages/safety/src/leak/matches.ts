import type { Matcher } from 're2js'
import type { Pattern } from '../pattern.js'
import type { Span } from '../span.js'

/** Gives the secrets in spans of a text, which ascend and may overlap; none twice. */
export type FindSecrets = (text: string, spans: readonly Span[]) => Iterable<Span>

/** The name of the group around what must not be seen; without it, that is the whole match. */
const secretGroup = 'secret'
/** Characters of a label, at most. */
const longestLabel = 64
/** Characters of a match that leaves its span; one that goes on behind them is taken to never end. */
const longestMatch = 8192

/** Compiles a pattern to a search for the secrets that it matches, of which those count that `isSecret`. */
export function compileSearch(pattern: Pattern, isSecret: (found: string) => boolean): FindSecrets {
  const { compiled } = pattern
  const hasGroup = Object.hasOwn(compiled.namedGroups(), secretGroup)

  const readMatch = (matcher: Matcher, from: number): Match => {
    const isGrouped = hasGroup && matcher.start(secretGroup) >= 0
    const group = isGrouped ? secretGroup : 0
    return {
      start: from + matcher.start(),
      secret: from + matcher.start(group),
      end: from + matcher.end(group),
    }
  }

  /** What looks like a match up to the end of its span may be longer, or none. */
  const readOn = (text: string, start: number): Match | undefined => {
    const rest = text.slice(start, start + longestMatch)
    const matcher = compiled.matcher(rest)
    if (!matcher.lookingAt()) return undefined
    const match = readMatch(matcher, start)
    return matcher.end() === rest.length ? { ...match, end: text.length } : match
  }

  return function* (text, spans) {
    let at = 0
    for (const span of spans) {
      // With the character before, which tells whether a word begins.
      const from = Math.max(0, span.start - 1)
      const part = text.slice(from, span.end)
      // Where a match is takes ten times as long to tell as that there is one.
      if (!pattern.test(part)) continue
      const matcher = compiled.matcher(part)
      at = Math.max(at, span.start)
      while (at < span.end && matcher.find(at - from)) {
        const start = from + matcher.start()
        const isCut = matcher.end() === part.length && span.end < text.length
        const match = isCut ? readOn(text, start) : readMatch(matcher, from)
        if (match === undefined) {
          at = start + 1
          continue
        }
        const { secret } = match
        let { end } = match
        if (secret < end && isSecret(text.slice(secret, end))) {
          end = endOfToken(text, end)
          yield { start: secret, end }
        }
        // What has a label may end in the label of another: `key: password: …`.
        at = secret > start ? Math.max(secret, end - longestLabel) : Math.max(start + 1, end)
      }
    }
  }
}

interface Match {
  readonly start: number
  /** Where the secret starts and ends. */
  readonly secret: number
  readonly end: number
}

const ofToken = /[\w-]/

/** How the footer of a key ends: behind it something else begins. */
const footerEnd = '----'

/** A pattern may stop short: of a token, nothing is left. */
function endOfToken(text: string, end: number): number {
  if (text.endsWith(footerEnd, end)) return end
  let at = end
  if (ofToken.test(text.charAt(end - 1))) while (ofToken.test(text.charAt(at))) at++
  return at
}
