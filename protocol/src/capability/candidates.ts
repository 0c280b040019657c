import {
  allows,
  assemble,
  type Conditions,
  NOT_FRAMED,
  type Path,
  type Program,
  type Subject,
  valueAt,
} from './conditions.js'

/**
 * The capabilities that a list has for one kind, in one array: the two signs of the list, each a path and a place in
 * the text there; and of each capability its characters at both, its index, and itself. By these characters most of them
 * need no look.
 */
export type Candidates = readonly (number | Path | Program | undefined)[]

const HEADER = 4
const WIDTH = 4
/** There is no character. */
const NONE = -2

/** What stands there of one capability. */
export type Entry = readonly [here: number, there: number, index: number, program: Program]

export function createEntry(conditions: Conditions, index: number, [one, other]: Signs): Entry {
  const heads = getHeads(conditions)
  return [getCharacter(heads, one), getCharacter(heads, other), index, assemble(conditions)]
}

export const createCandidates = ([one, other]: Signs, entries: readonly Entry[]): Candidates => [
  one.path,
  one.at,
  other.path,
  other.at,
  ...entries.flat(),
]

/** The index of the first candidate that allows an envelope of their kind; -1 if none does. */
export function findFirst(candidates: Candidates, envelope: Subject): number {
  if (candidates.length === HEADER) return -1
  const { payload, to } = envelope
  let path = candidates[0] as Path | undefined
  let text = path === undefined ? to?.[0] : valueAt(payload, path)
  const here = characterAt(text, candidates[1] as number)
  if (candidates[2] !== path) {
    path = candidates[2] as Path | undefined
    text = path === undefined ? to?.[0] : valueAt(payload, path)
  }
  const there = characterAt(text, candidates[3] as number)
  for (let at = HEADER; at < candidates.length; at += WIDTH) {
    const first = candidates[at]
    if (first !== here && first !== ANY) continue
    const second = candidates[at + 1]
    if (second !== there && second !== ANY) continue
    if (allows(candidates[at + 3] as Program, envelope, path, text)) return candidates[at + 2] as number
  }
  return -1
}

const characterAt = (text: unknown, at: number): number =>
  typeof text === 'string' && at < text.length ? text.charCodeAt(at) : NONE

/** A character of the text at a path, or of the first addressee, where that is undefined. */
interface Sign {
  readonly path: Path | undefined
  readonly at: number
}

export type Signs = readonly [Sign, Sign]

/** What the texts at a place begin with: by path, or undefined for the first addressee. */
export type Heads = ReadonlyMap<Path | undefined, string>

/** What every envelope has that passes the conditions. */
export function getHeads({ only, questions }: Conditions): Heads {
  const heads = new Map<Path | undefined, string>()
  if (only !== undefined) heads.set(undefined, only)
  for (const { path, asked, head } of questions) {
    if (asked !== NOT_FRAMED && head.length > (heads.get(path)?.length ?? 0)) heads.set(path, head)
  }
  return heads
}

/** Any character will do, or none. */
const ANY = -1

const getCharacter = (heads: Heads, { path, at }: Sign): number => {
  const head = heads.get(path) ?? ''
  return at < head.length ? head.charCodeAt(at) : ANY
}

/** Only so many first characters are compared, at so many places. */
const maxCharacters = 32
const maxPlaces = 16

/** Units of work that it takes to try a sign on a capability, twice. */
const WORK_PER_TRIAL = 1 / 4

/** The two signs by which most of the capabilities are told apart. Says what that costs before it begins. */
export function chooseSigns(capabilities: readonly Heads[], charge: (units: number) => void): Signs {
  const signs = listSigns(capabilities)
  charge(signs.length * capabilities.length * WORK_PER_TRIAL)
  const none = capabilities.map(() => 0)
  const one = chooseSign(signs, capabilities, none)
  const groups = capabilities.map((heads) => getCharacter(heads, one) + 2)
  return [one, chooseSign(signs, capabilities, groups)]
}

function listSigns(capabilities: readonly Heads[]): Sign[] {
  const longest = new Map<Path | undefined, number>([[undefined, 1]])
  for (const [path, head] of capabilities.flatMap((heads) => [...heads])) {
    longest.set(path, Math.max(longest.get(path) ?? 0, Math.min(head.length, maxCharacters)))
  }
  const places = [...longest].slice(0, maxPlaces)
  return places.flatMap(([path, length]) => Array.from({ length }, (_, at) => ({ path, at })))
}

const groupSize = 0x10002

/** The sign that leaves the smallest groups of capabilities, where there are such groups already. */
function chooseSign(signs: readonly Sign[], capabilities: readonly Heads[], groups: readonly number[]): Sign {
  let best: Sign = { path: undefined, at: 0 }
  let least = Number.POSITIVE_INFINITY
  for (const sign of signs) {
    const sizes = new Map<number, number>()
    let left = 0
    for (const [index, heads] of capabilities.entries()) {
      const character = getCharacter(heads, sign)
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
