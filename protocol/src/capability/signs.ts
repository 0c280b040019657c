import type { Path } from './path.js'
import { NOT_FRAMED } from './payload.js'
import type { Conditions } from './program.js'

/** A character of the text at a path, or of the first addressee, where that is undefined. */
interface Sign {
  readonly path: Path | undefined
  readonly at: number
}

export type Signs = readonly [Sign, Sign]

/** What the texts at a place begin with: by path, or undefined for the first addressee. */
export type Heads = ReadonlyMap<Path | undefined, string>

/** What every envelope has that passes the conditions. */
export function headsOf({ only, questions }: Conditions): Heads {
  const heads = new Map<Path | undefined, string>()
  if (only !== undefined) heads.set(undefined, only)
  for (const { path, asked, head } of questions) {
    if (asked !== NOT_FRAMED && head.length > (heads.get(path)?.length ?? 0)) heads.set(path, head)
  }
  return heads
}

/** Any character will do, or none. */
export const ANY = -1

export const characterOf = (heads: Heads, { path, at }: Sign): number => {
  const head = heads.get(path) ?? ''
  return at < head.length ? head.charCodeAt(at) : ANY
}

/** Only so many first characters are compared, at so many places. */
const mostCharacters = 32
const mostPlaces = 16

/** Units of work that it takes to try a sign on a capability, twice. */
const PER_TRIAL = 1 / 4

/** The two signs by which most of the capabilities are told apart. Says what that costs before it begins. */
export function tellingSigns(capabilities: readonly Heads[], charge: (units: number) => void): Signs {
  const signs = signsOf(capabilities)
  charge(signs.length * capabilities.length * PER_TRIAL)
  const none = capabilities.map(() => 0)
  const one = mostTelling(signs, capabilities, none)
  const groups = capabilities.map((heads) => characterOf(heads, one) + 2)
  return [one, mostTelling(signs, capabilities, groups)]
}

function signsOf(capabilities: readonly Heads[]): Sign[] {
  const longest = new Map<Path | undefined, number>([[undefined, 1]])
  for (const [path, head] of capabilities.flatMap((heads) => [...heads])) {
    longest.set(path, Math.max(longest.get(path) ?? 0, Math.min(head.length, mostCharacters)))
  }
  const places = [...longest].slice(0, mostPlaces)
  return places.flatMap(([path, length]) => Array.from({ length }, (_, at) => ({ path, at })))
}

const groupSize = 0x10002

/** The sign that leaves the smallest groups of capabilities, where there are such groups already. */
function mostTelling(
  signs: readonly Sign[],
  capabilities: readonly Heads[],
  groups: readonly number[],
): Sign {
  let best: Sign = { path: undefined, at: 0 }
  let least = Number.POSITIVE_INFINITY
  for (const sign of signs) {
    const sizes = new Map<number, number>()
    let left = 0
    for (const [index, heads] of capabilities.entries()) {
      const character = characterOf(heads, sign)
      const group = (groups[index] ?? 0) * groupSize + character
      const size = sizes.get(group) ?? 0
      // A group of n costs n²; what takes any character is in every group.
      left += character === ANY ? capabilities.length : 2 * size + 1
      sizes.set(group, size + 1)
    }
    if (left < least) [best, least] = [sign, left]
  }
  return best
}
