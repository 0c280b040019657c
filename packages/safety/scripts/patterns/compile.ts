import type { CompiledPattern } from '../../src/leak/built-in.js'
import { extentOf } from './extent.js'
import { type Glance, glanceOf, mostWays } from './glance.js'
import { startsOf } from './starts.js'
import { readSyntax, type Sequence } from './syntax.js'
import { searchOf, wholeOf } from './whole.js'

/**
 * Compiles a pattern in RE2 syntax to expressions that JavaScript matches in linear time, as far as there are any: of
 * some patterns nothing is known, and RE2 alone finds them.
 */
export function compile(pattern: string): CompiledPattern {
  const syntax = readSyntax(pattern)
  if (syntax === undefined) return {}
  const choices = syntax.choices.map(withEdge)
  const starts = startsOf(choices)
  return starts === undefined ? searchOf(syntax) : { starts, ...atStart(choices) }
}

/**
 * Tells in no time for most places that a pattern does not match there, by as much of its beginning as takes linear
 * time: up to where a search might have to go back.
 */
function atStart(choices: readonly Sequence[]): CompiledPattern {
  const { source, isWhole } = glanceOf({ type: 'group', choices }, [], [], mostWays)
  if (isWhole) return { whole: source }
  const [only = [], ...more] = choices
  const beginning = more.length === 0 ? beginningOf(only) : undefined
  return { ...(beginning ?? { glance: source }), ...wholeOf(choices) }
}

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
