import type { Span } from '../span.js'
import type { Locator, LocatorMatch } from './native.js'

/** Where a match starts, and the secret in it. */
interface Match {
  readonly start: number
  readonly secret: Span
}

/** The name of the group around what must not be seen; without it, that is the whole match. */
const secretGroup = 'secret'
/** Characters of a match that leaves its span; one that goes on behind them is taken to never end. */
const longest = 8192

/**
 * Gives what was found in the part of a text from `from` to `to`; undefined where it was none: what goes up to the end
 * of its part may be longer, or no match.
 */
export type ReadMatch = (matcher: LocatorMatch, text: string, from: number, to: number) => Match | undefined

export function readerOf(pattern: Locator): ReadMatch {
  const hasGroup = Object.hasOwn(pattern.namedGroups(), secretGroup)

  const matchOf = (matcher: LocatorMatch, from: number): Match => {
    const group = hasGroup && matcher.start(secretGroup) >= 0 ? secretGroup : 0
    return {
      start: from + matcher.start(),
      secret: { start: from + matcher.start(group), end: from + matcher.end(group) },
    }
  }

  const readOn = (text: string, start: number): Match | undefined => {
    const rest = text.slice(start, start + longest)
    const matcher = pattern.matcher(rest)
    if (!matcher.lookingAt()) return undefined
    const match = matchOf(matcher, start)
    if (matcher.end() < rest.length) return match
    return { ...match, secret: { ...match.secret, end: text.length } }
  }

  return (matcher, text, from, to) =>
    from + matcher.end() === to && to < text.length
      ? readOn(text, from + matcher.start())
      : matchOf(matcher, from)
}
