import type { Part, Sequence, Unit } from './syntax.js'

/** Characters that a part takes, at least and at most. */
interface Length {
  readonly least: number
  readonly most: number
}

export function lengthOf(part: Part): Length {
  switch (part.type) {
    case 'edge':
      return { least: 0, most: 0 }
    case 'unit':
      // In UTF-16.
      return { least: 1, most: 2 }
    case 'repeat': {
      const { least, most } = lengthOf(part.part)
      return { least: least * part.least, most: most === 0 ? 0 : most * part.most }
    }
    case 'group': {
      const lengths = part.choices.map(lengthOfAll)
      return {
        least: Math.min(...lengths.map(({ least }) => least)),
        most: Math.max(...lengths.map(({ most }) => most)),
      }
    }
  }
}

const lengthOfAll = (sequence: Sequence): Length =>
  sequence
    .map(lengthOf)
    .reduce((sum, { least, most }) => ({ least: sum.least + least, most: sum.most + most }), {
      least: 0,
      most: 0,
    })

/** Every unit in a part. */
function unitsOf(part: Part): readonly Unit[] {
  if (part.type === 'edge') return []
  if (part.type === 'unit') return [part]
  return part.type === 'repeat'
    ? unitsOf(part.part)
    : part.choices.flatMap((choice) => choice.flatMap(unitsOf))
}

/** Characters by which one part may be longer or shorter for the same text. */
const playOf = (part: Part): number => {
  const { least, most } = lengthOf(part)
  return most === Infinity ? 0 : most - least
}

const longestPlay = 128

/** A class that has all characters of some units, and of those that are not in ASCII, all or none. */
function anyOf(units: readonly Unit[]): string {
  const characters = new Set(units.flatMap((unit) => [...unit.characters]))
  const ascii = [...characters].filter((character) => character < '\x80')
  const codes = ascii.map((character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return `[${codes.join('')}${ascii.length < characters.size ? '\\x80-\\uffff' : ''}]`
}

const blanks = [' ', '\n', '\t']

/**
 * What surely is behind the beginning of a match: `next`, for its next characters, and `rest`, for all others. A match
 * of `done` stands before it, and `part`, of which the length is not known, is next.
 */
export function extentOf(
  done: Sequence,
  part: Part,
  behind: Sequence,
): { next: string; rest: string } | undefined {
  const last = behind.findLastIndex((each) => lengthOf(each).most === Infinity)
  const units = [part, ...behind.slice(0, last + 1)].flatMap(unitsOf)
  if (units.some(({ characters }) => blanks.some((blank) => characters.has(blank)))) return undefined
  const end = lengthOfAll(behind.slice(last + 1)).most
  const play = done.map(playOf).reduce((sum, each) => sum + each, 0)
  if (play > longestPlay) return undefined
  const run = `${anyOf(units)}*`
  return {
    next: `(?=${anyOf(unitsOf(part))}{${lengthOf(part).least}})`,
    rest: `${run}${play === 0 ? '' : `[^]{0,${play}}${run}`}[^]{0,${end}}`,
  }
}
