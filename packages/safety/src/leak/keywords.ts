import { codeAt } from '../code-at.js'
import { bits, compileStarts, groups, looked } from './word-starts.js'
import { compileTree } from './word-tree.js'

/** Words in a text, in the order of their starts: of each the index of the list that has it, its start and its end. */
export type Words = readonly number[]

/** Finds every word in a text that begins before `to`, which is its end unless told otherwise. */
export type Search = (text: string, to?: number) => number[]

/**
 * Compiles lists of lower-case words to a search for all of them at once, in one pass over a text, whose
 * capitals count as lower case. Where nothing stands that begins a word, it looks no closer. Its tables are small, so
 * that they are still at hand for the next text.
 */
export function compileKeywords(lists: readonly (readonly string[])[]): Search {
  const words = lists.flatMap((list, index) => list.map((word) => ({ word, index })))
  const all = words.map(({ word }) => word)
  const { columns, width } = columnsOf(all.join(''))
  const { roots, children, letters, ends } = compileTree(words, columns, width)
  const { classes, follow } = compileStarts(all, columns)

  /** Finds the words that begin at a place. */
  const read = (text: string, start: number, found: number[]): void => {
    let state = roots[columns[codeAt(text, start)] ?? 0] ?? 0
    for (let at = start + 1; state !== 0; at++) {
      const here = ends[state]
      if (here !== undefined) for (const index of here) found.push(index, start, at)
      if (at >= text.length) return
      const letter = columns[codeAt(text, at)] ?? 0
      const behind = children[state + 1] ?? 0
      let child = children[state] ?? 0
      while (child < behind && letters[child] !== letter) child++
      state = child < behind ? child : 0
    }
  }

  return (text, to = text.length) => {
    const found: number[] = []
    const end = Math.min(text.length, to + looked - 1)
    let two = 0
    let begun = 0
    for (let at = 0; at < end; at++) {
      two = ((two << bits) | (classes[codeAt(text, at)] ?? 0)) & ofTwo
      begun = ((begun << groups) | ofGroups) & (follow[two] ?? 0)
      if (begun >>> ofLast !== 0) read(text, at - looked + 1, found)
    }
    // Behind these stand fewer.
    for (let start = Math.max(0, text.length - looked + 1); start < end && start < to; start++)
      read(text, start, found)
    return found
  }
}

const ofTwo = (1 << (2 * bits)) - 1
const ofGroups = (1 << groups) - 1
const ofLast = groups * (looked - 2)

/** The column of each character code in the table of a tree; column 0 is for all that no word has. */
function columnsOf(used: string): { columns: Uint16Array; width: number } {
  const columns = new Uint16Array(0x10000)
  const letters = new Set(used.split(''))
  let width = 1
  for (const letter of [...letters].sort()) {
    columns[letter.charCodeAt(0)] = width
    const capital = letter.toUpperCase()
    if (capital.length === 1) columns[capital.charCodeAt(0)] = width
    width++
  }
  return { columns, width }
}
