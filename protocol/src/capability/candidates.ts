import { type Path, valueAt } from './path.js'
import { allows, assemble, type Conditions, type Program, type Subject } from './program.js'
import { ANY, characterOf, headsOf, type Signs } from './signs.js'

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

export function entryOf(conditions: Conditions, index: number, [one, other]: Signs): Entry {
  const heads = headsOf(conditions)
  return [characterOf(heads, one), characterOf(heads, other), index, assemble(conditions)]
}

export const candidatesOf = ([one, other]: Signs, entries: readonly Entry[]): Candidates => [
  one.path,
  one.at,
  other.path,
  other.at,
  ...entries.flat(),
]

/** The index of the first candidate that allows an envelope of their kind; -1 if none does. */
export function firstOf(candidates: Candidates, envelope: Subject): number {
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
