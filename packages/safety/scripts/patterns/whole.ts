import type { CompiledPattern } from '../../src/leak/built-in.js'
import { lengthOf } from './extent.js'
import { glanceOf, sourceOf } from './glance.js'
import { withRuns } from './runs.js'
import type { Group, Sequence } from './syntax.js'

/** Where a match is known to be, few of them lead on far. */
const mostWaysOfMatch = 2 ** 20

/** All of a pattern, for a place where it is known to match; nothing where JavaScript may take long even there. */
export function wholeOf(choices: readonly Sequence[]): CompiledPattern {
  const sources = choices.map((choice) => withRuns(choice))
  const whole = sourceOf({ type: 'group', choices: sources }, mostWaysOfMatch)
  return whole === undefined ? {} : { whole }
}

/** Ways to be tried at every place of a text. */
const mostWaysOfSearch = 64

/** All of a pattern, for a search in linear time; nothing where JavaScript may take long. */
export function searchOf(syntax: Group): CompiledPattern {
  const { source, isWhole } = glanceOf(syntax, [], [], mostWaysOfSearch)
  if (isWhole) return { whole: source }
  const [[first, ...rest] = [], ...others] = syntax.choices
  if (first?.type !== 'repeat' || first.part.type !== 'unit' || first.most < Infinity || others.length > 0) {
    return {}
  }
  // What begins with a run begins where that does, so that each run is gone through once.
  const behind: Group = { type: 'group', choices: [rest] }
  const isBounded = lengthOf(behind).most < Infinity
  const end = isBounded ? sourceOf(behind, mostWaysOfSearch) : undefined
  const unit = first.part.source
  return end === undefined
    ? {}
    : { whole: `${unit}{${first.least},}${first.isLazy ? '?' : ''}${end}`, notBehind: unit }
}
