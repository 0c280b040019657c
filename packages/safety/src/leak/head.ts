import { extentOf } from './extent.js'
import { startsOf } from './starts.js'
import { type Part, readSyntax, type Sequence, type Unit } from './syntax.js'

/** How the matches of a pattern begin, and where JavaScript can find them in linear time, all of them. */
export interface Head {
  /** In lower case. Each match begins with one of them. */
  readonly starts: readonly string[]
  /** Sticky. It matches at a start wherever the pattern does; or, if it `isWhole`, just where the pattern does. */
  readonly glance: RegExp
  readonly isWhole: boolean
  /** Sticky. Where there is a match at a start, it ends where this does, or before; undefined where that is not known. */
  readonly extent?: RegExp
}

/** Ways in which a glance may have to try the same characters. */
const mostWays = 2 ** 15

/**
 * Tells in no time for most places that a pattern does not match there, by as much of its beginning as takes linear
 * time in JavaScript too: up to where a search might have to go back. Gives undefined for a pattern of which the
 * beginning is not known.
 */
export function compileHead(pattern: string): Head | undefined {
  const choices = readSyntax(pattern)?.choices.map(withEdge)
  const starts = choices && startsOf(choices)
  if (choices === undefined || starts === undefined) return undefined
  const [only = [], ...more] = choices
  const { source, isWhole } = glanceOf({ type: 'group', choices }, [], [], mostWays)
  if (isWhole)
    return { starts, isWhole, glance: new RegExp(source, source.includes('(?<secret>') ? 'dy' : 'y') }
  const sources = more.length === 0 ? beginningOf(only) : undefined
  if (sources === undefined) return { starts, isWhole, glance: new RegExp(source, 'y') }
  return { starts, isWhole, glance: new RegExp(sources.glance, 'y'), extent: new RegExp(sources.extent, 'y') }
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

interface Glance {
  readonly source: string
  /** Nothing was left out, so what follows may be looked at too. */
  readonly isWhole: boolean
  /** Ways that are left for that. */
  readonly ways: number
}

/** `before` and `behind` are what stands around a part. */
function glanceOf(part: Part, before: Sequence, behind: Sequence, ways: number): Glance {
  if (part.type === 'unit' || part.type === 'edge') return { source: part.source, isWhole: true, ways }
  if (part.type === 'repeat') return glanceOfRepeat(part, before, behind, ways)
  const choices = part.choices.map((choice) => glanceOfSequence(choice, before, behind, ways))
  const name = part.name === undefined ? '?:' : `?<${part.name}>`
  return {
    source: `(${name}${choices.map(({ source }) => source).join('|')})`,
    isWhole: choices.every(({ isWhole }) => isWhole),
    ways: Math.min(...choices.map((choice) => choice.ways)),
  }
}

function glanceOfSequence(sequence: Sequence, before: Sequence, behind: Sequence, ways: number): Glance {
  let glance: Glance = { source: '', isWhole: true, ways }
  for (const [index, part] of sequence.entries()) {
    if (part.type === 'unit' || part.type === 'edge') {
      glance = { ...glance, source: glance.source + part.source }
      continue
    }
    const done = [...before, ...sequence.slice(0, index)]
    const next = glanceOf(part, done, [...sequence.slice(index + 1), ...behind], glance.ways)
    glance = { ...next, source: glance.source + next.source }
    if (!glance.isWhole) break
  }
  return glance
}

type Repeat = Extract<Part, { type: 'repeat' }>

function glanceOfRepeat(repeat: Repeat, before: Sequence, behind: Sequence, ways: number): Glance {
  const { part, least, most, isLazy } = repeat
  const once = glanceOf(part, before, most > 1 ? [repeat, ...behind] : behind, ways)
  if (!once.isWhole) return { ...once, source: least > 0 ? once.source : '' }
  const several = (count: string): string => `(?:${once.source}){${count}}${isLazy ? '?' : ''}`
  const left = most === Infinity ? once.ways : once.ways / (most - least + 1)
  const isRead = most === Infinity ? part.type === 'unit' && isLinear(part, before, behind) : left >= 1
  if (!isRead) return { source: several(String(least)), isWhole: false, ways }
  return { source: several(`${least},${most === Infinity ? '' : most}`), isWhole: true, ways: left }
}

/**
 * Whether to go through a run of such characters takes linear time for the whole text: nothing before it can be part
 * of it, so that it is gone through once for one start; and nothing behind it either, so that no end but its last is
 * worth a try. Or what follows can't fail.
 */
const isLinear = (unit: Unit, before: Sequence, behind: Sequence): boolean =>
  behind.every(canBeNothing) ||
  (isApart(unit, before.toReversed(), true) &&
    (isApart(unit, behind) || behind.every(({ type }) => type === 'edge')))

const canBeNothing = (part: Part): boolean =>
  part.type === 'repeat'
    ? part.least === 0 || canBeNothing(part.part)
    : part.type === 'group' && part.choices.some((choice) => choice.every(canBeNothing))

/** Whether a sequence surely begins, or, backward, ends, with a character that is none of those. */
function isApart(unit: Unit, sequence: Sequence, isBackward = false): boolean {
  for (const part of sequence) {
    if (part.type === 'edge') continue
    if (!isPartApart(unit, part, isBackward)) return false
    if (!canBeNothing(part)) return true
  }
  return false
}

function isPartApart(unit: Unit, part: Part, isBackward: boolean): boolean {
  switch (part.type) {
    case 'edge':
      return false
    case 'unit':
      return areApart(unit, part)
    case 'repeat':
      return isPartApart(unit, part.part, isBackward)
    case 'group':
      return part.choices.every((choice) =>
        isApart(unit, isBackward ? choice.toReversed() : choice, isBackward),
      )
  }
}

const apart = new WeakMap<Unit, WeakMap<Unit, boolean>>()

/** Whether no character is one of both. Most units are read once, and are in many patterns. */
function areApart(one: Unit, other: Unit): boolean {
  const known = apart.get(one) ?? new WeakMap<Unit, boolean>()
  apart.set(one, known)
  const areKnown = known.get(other)
  if (areKnown !== undefined) return areKnown
  const are = ![...one.characters].some((character) => other.characters.has(character))
  known.set(other, are)
  return are
}
