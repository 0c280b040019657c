import type { Group, Part, Repeat, Sequence, Unit } from './syntax.js'

/** Ways in which a glance may have to try the same characters. */
export const mostWays = 2 ** 15

/** As much of the beginning of a pattern as JavaScript reads in linear time. */
export interface Glance {
  readonly source: string
  /** Nothing was left out, so what follows may be looked at too. */
  readonly isWhole: boolean
  /** Ways that are left for that. */
  readonly ways: number
}

/** What stands before a part; undefined where one start alone is of interest. */
type Before = Sequence | undefined

/** `before` and `behind` are what stands around a part. */
export function glanceOf(part: Part, before: Before, behind: Sequence, ways: number): Glance {
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

/** All of a group, to be read from one start; undefined where that may take long. */
export function sourceOf(group: Group, ways: number): string | undefined {
  const { source, isWhole } = glanceOf(group, undefined, [], ways)
  return isWhole ? source : undefined
}

function glanceOfSequence(sequence: Sequence, before: Before, behind: Sequence, ways: number): Glance {
  let glance: Glance = { source: '', isWhole: true, ways }
  for (const [index, part] of sequence.entries()) {
    if (part.type === 'unit' || part.type === 'edge') {
      glance = { ...glance, source: glance.source + part.source }
      continue
    }
    const done = before && [...before, ...sequence.slice(0, index)]
    const next = glanceOf(part, done, [...sequence.slice(index + 1), ...behind], glance.ways)
    glance = { ...next, source: glance.source + next.source }
    if (!glance.isWhole) break
  }
  return glance
}

function glanceOfRepeat(repeat: Repeat, before: Before, behind: Sequence, ways: number): Glance {
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
const isLinear = (unit: Unit, before: Before, behind: Sequence): boolean =>
  behind.every(canBeNothing) ||
  ((before === undefined || isApart(unit, before.toReversed(), true)) &&
    (isApart(unit, behind) || behind.every(({ type }) => type === 'edge')))

const canBeNothing = (part: Part): boolean =>
  part.type === 'repeat'
    ? part.least === 0 || canBeNothing(part.part)
    : part.type === 'group' && part.choices.some((choice) => choice.every(canBeNothing))

/** Whether a sequence surely begins, or, backward, ends, with a character that is none of those. */
export function isApart(unit: Unit, sequence: Sequence, isBackward = false): boolean {
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
