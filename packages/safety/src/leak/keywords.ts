/** Calls `found` for every word in a text, by the index of the list that has it, in the order of their ends. */
export type Search = (text: string, found: (index: number, start: number, end: number) => void) => void

/**
 * Compiles lists of lower-case words to a search for all of them at once, in one pass over a text, whose
 * capitals count as lower case (Aho and Corasick).
 */
export function compileKeywords(lists: readonly (readonly string[])[]): Search {
  const words = lists.flatMap((list, index) => list.map((word) => ({ word, index })))
  const { columns, width } = columnsOf(words.map(({ word }) => word).join(''))
  const { next, ends } = automaton(words, columns, width)

  return (text, found) => {
    let state = 0
    for (let at = 0; at < text.length; at++) {
      const column = columns[text.charCodeAt(at)] ?? 0
      state = next[state * width + column] ?? 0
      const here = ends[state]
      if (here === undefined) continue
      for (const { index, word } of here) found(index, at + 1 - word.length, at + 1)
    }
  }
}

/** The column of each character code in the automaton's table; column 0 is for all that no word has. */
function columnsOf(used: string): { columns: Uint16Array; width: number } {
  const columns = new Uint16Array(0x10000)
  const letters = new Set(used.split(''))
  let width = 1
  for (const letter of letters) {
    columns[letter.charCodeAt(0)] = width
    const capital = letter.toUpperCase()
    if (capital.length === 1) columns[capital.charCodeAt(0)] = width
    width++
  }
  return { columns, width }
}

interface Word {
  readonly word: string
  readonly index: number
}

/** `next` is a table of states by columns; `ends` has the words that end in a state. */
function automaton(words: readonly Word[], columns: Uint16Array, width: number) {
  /** By state and column, the states of the words' beginnings. */
  const children: Map<number, number>[] = [new Map()]
  const ends: (readonly Word[] | undefined)[] = []
  const end = (state: number, more: readonly Word[] = []): void => {
    if (more.length > 0) ends[state] = [...(ends[state] ?? []), ...more]
  }
  for (const each of words) {
    let state = 0
    for (const letter of each.word.split('')) {
      const column = columns[letter.charCodeAt(0)] ?? 0
      const child = children[state]?.get(column) ?? children.push(new Map()) - 1
      children[state]?.set(column, child)
      state = child
    }
    end(state, [each])
  }

  // Breadth first: where a word does not go on, the longest of its ends that begins a word does.
  const next = new Uint32Array(children.length * width)
  const shorter = new Uint32Array(children.length)
  const queue = [0]
  for (const state of queue) {
    const row = state * width
    const instead = (shorter[state] ?? 0) * width
    if (state !== 0) next.copyWithin(row, instead, instead + width)
    for (const [column, child] of children[state] ?? []) {
      shorter[child] = next[row + column] ?? 0
      next[row + column] = child
      end(child, ends[shorter[child] ?? 0])
      queue.push(child)
    }
  }
  ends.length = children.length
  return { next, ends: Array.from(ends) }
}
