import { extentOf } from './extent.js'
import { type Glance, glanceOf, mostWays } from './glance.js'
import type { Locator } from './native.js'
import { nativeOf } from './natives.js'
import { startsOf } from './starts.js'
import { readSyntax, type Sequence } from './syntax.js'

/** How the matches of a pattern begin, as sources of expressions: to find that out takes milliseconds, to use it none. */
export interface Head {
  /** In lower case. Each match begins with one of them. */
  readonly starts: readonly string[]
  /** It matches at a start wherever the pattern does; or, if it `isWhole`, just where the pattern does. */
  readonly glance: string
  readonly isWhole: boolean
  /** Where there is a match at a start, it ends where this does, or before; absent where that is not known. */
  readonly extent?: string
}

/**
 * Tells in no time for most places that a pattern does not match there, by as much of its beginning as takes linear
 * time in JavaScript too: up to where a search might have to go back. Gives undefined for a pattern of which the
 * beginning is not known.
 */
export function headOf(pattern: string): Head | undefined {
  const choices = choicesOf(pattern)
  const starts = choices && startsOf(choices)
  if (choices === undefined || starts === undefined) return undefined
  const [only = [], ...more] = choices
  const { source, isWhole } = glanceOf({ type: 'group', choices }, [], [], mostWays)
  const sources = isWhole || more.length > 0 ? undefined : beginningOf(only)
  return { starts, isWhole, ...(sources ?? { glance: source }) }
}

/** Tells the match at a start at which the pattern is known to match, where JavaScript can find all of them in linear time. */
export function locatorOf(pattern: string): Locator | undefined {
  const choices = choicesOf(pattern)
  return choices && nativeOf(choices)
}

const choicesOf = (pattern: string): readonly Sequence[] | undefined =>
  readSyntax(pattern)?.choices.map(withEdge)

export const sticky = (source: string): RegExp =>
  new RegExp(source, source.includes('(?<secret>') ? 'dy' : 'y')

/** A glance, and as much behind it as may belong to a match. */
function beginningOf(sequence: Sequence): { glance: string; extent: string } | undefined {
  let known: Glance = { source: '', isWhole: true, ways: mostWays }
  for (const [index, part] of sequence.entries()) {
    const [done, behind] = [sequence.slice(0, index), sequence.slice(index + 1)]
    const next = glanceOf(part, done, behind, known.ways)
    if (next.isWhole) {
      known = { ...next, source: known.source + next.source }
      continue
    }
    const extent = extentOf(done, part, behind)
    if (extent === undefined) return undefined
    const glance = `${known.source}${extent.next}${next.source}`
    return { glance, extent: glance + extent.rest }
  }
  return undefined
}

/** `(?:\b|\\n)` and `(?:^|[ :])` at the beginning only have to be there: the match begins behind them. */
function withEdge(sequence: Sequence): Sequence {
  const [first, ...others] = sequence
  if (first?.type !== 'group' || first.name !== undefined) return sequence
  const isEdge = (choice: Sequence): boolean => choice.every(({ type }) => type === 'edge')
  const isFlat = (choice: Sequence): boolean => choice.every(({ type }) => type === 'edge' || type === 'unit')
  if (!first.choices.some(isEdge) || !first.choices.every(isFlat)) return sequence
  const sources = first.choices.map((choice) => {
    const source = choice.map((part) => ('source' in part ? part.source : '')).join('')
    return isEdge(choice) ? source : `(?<=${source})`
  })
  return [{ type: 'edge', source: `(?:${sources.join('|')})` }, ...others]
}
