import { lengthOf } from './extent.js'
import { glanceOf, isApart, mostWays } from './glance.js'
import { type Locator, nativeLocator } from './native.js'
import { withRuns } from './runs.js'
import { type Group, readSyntax, type Sequence } from './syntax.js'

const reading = { sourceOf: (group: Group) => sourceOf(group, mostWays), isApart }

/** Where a match is known to be, few of them lead on far. */
const mostWaysOfMatch = 2 ** 20

/** All of a pattern, for a place where it is known to match; undefined where JavaScript may take long even there. */
export function nativeOf(choices: readonly Sequence[]): Locator | undefined {
  const sources = choices.map((choice) => withRuns(choice, reading))
  const source = sourceOf({ type: 'group', choices: sources }, mostWaysOfMatch)
  return source === undefined ? undefined : nativeLocator(source)
}

function sourceOf(group: Group, ways: number): string | undefined {
  const { source, isWhole } = glanceOf(group, undefined, [], ways)
  return isWhole ? source : undefined
}

/** Ways to be tried at every place of a text. */
const mostWaysOfSearch = 64

/** All of a pattern, for a search in linear time; undefined where JavaScript may take long. */
export function searchOf(pattern: string): Locator | undefined {
  const syntax = readSyntax(pattern)
  if (syntax === undefined) return undefined
  const { source, isWhole } = glanceOf(syntax, [], [], mostWaysOfSearch)
  if (isWhole) return nativeLocator(source)
  const [[first, ...rest] = [], ...others] = syntax.choices
  if (first?.type !== 'repeat' || first.part.type !== 'unit' || first.most < Infinity || others.length > 0) {
    return undefined
  }
  // What begins with a run begins where that does, so that each run is gone through once.
  const behind: Group = { type: 'group', choices: [rest] }
  const isBounded = lengthOf(behind).most < Infinity
  const end = isBounded ? sourceOf(behind, mostWaysOfSearch) : undefined
  const unit = first.part.source
  return end === undefined
    ? undefined
    : nativeLocator(`${unit}{${first.least},}${first.isLazy ? '?' : ''}${end}`, unit)
}
