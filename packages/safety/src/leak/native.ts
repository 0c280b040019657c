/** Says where in a text a pattern matches, as RE2JS does. */
export interface Locator {
  matcher(text: string): LocatorMatch
  /** The names that groups have. */
  namedGroups(): object
}

export interface LocatorMatch {
  /** Looks for the next match, at a place of the text or behind it. */
  find(from: number): boolean
  /** Looks for a match that begins the text. */
  lookingAt(): boolean
  /** Where the match that was found, or one of its groups, starts; -1 where the group has none. */
  start(group?: string | number): number
  end(group?: string | number): number
}

/** The group around what must not be seen. */
const group = 'secret'
const hasGroup = (source: string): boolean => source.includes(`(?<${group}>`)

/** Tells where the group is as well, where there is one. */
export const expressionOf = (source: string, flag: 'g' | 'y'): RegExp =>
  new RegExp(source, hasGroup(source) ? `d${flag}` : flag)

/**
 * A pattern that JavaScript matches in linear time. Where `notBehind` is given, a match stands where the search begins,
 * or not behind such a character: so a pattern that begins with a run of these is not tried all along it.
 */
export function nativeLocator(source: string, notBehind?: string): Locator {
  const here = expressionOf(source, 'y')
  const anywhere = expressionOf(notBehind === undefined ? source : `(?<!${notBehind})${source}`, 'g')
  const names = hasGroup(source) ? { [group]: 1 } : {}

  const execFrom = (pattern: RegExp, text: string, from: number): RegExpExecArray | null => {
    pattern.lastIndex = from
    return pattern.exec(text)
  }

  return {
    namedGroups: () => names,
    matcher(text) {
      let match: RegExpExecArray | null = null
      const spanOf = (wanted: string | number = 0): readonly [number, number] => {
        if (match === null) return [-1, -1]
        if (wanted === group) return match.indices?.groups?.[group] ?? [-1, -1]
        return [match.index, match.index + match[0].length]
      }
      return {
        find(from) {
          match = notBehind === undefined ? null : execFrom(here, text, from)
          match ??= execFrom(anywhere, text, from)
          return match !== null
        },
        lookingAt() {
          match = execFrom(here, text, 0)
          return match !== null
        },
        start: (wanted) => spanOf(wanted)[0],
        end: (wanted) => spanOf(wanted)[1],
      }
    },
  }
}
