/** Where in a text each of several lists has words: by the list's index, the words' ends, ascending. */
export type Search = (text: string) => Map<number, number[]>

/**
 * Compiles lists of lower-case words to a search for all of them at once, in one pass over a text, whose
 * capitals count as lower case (Aho and Corasick).
 */
export function compileKeywords(lists: readonly (readonly string[])[]): Search {
  const words = lists.flatMap((list, index) => list.map((word) => ({ word, index })))
  const { columns, width } = columnsOf(words.map(({ word }) => word).join(''))
  const { next, found } = automaton(words, columns, width)

  return (text) => {
    const places = new Map<number, number[]>()
    let state = 0
    for (let at = 0; at < text.length; at++) {
      const column = columns[text.charCodeAt(at)] ?? 0
      state = next[state * width + column] ?? 0
      const ends = found[state]
      if (ends === undefined) continue
      for (const index of ends) {
        const known = places.get(index)
        if (known === undefined) places.set(index, [at + 1])
        else known.push(at + 1)
      }
    }
    return places
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

/** `next` is a table of states by columns; `found` has the lists whose words end in a state. */
function automaton(words: readonly Word[], columns: Uint16Array, width: number) {
  const most = 1 + words.reduce((sum, { word }) => sum + word.length, 0)
  const next = new Uint32Array(most * width)
  const found: (readonly number[] | undefined)[] = new Array(most).fill(undefined)
  const at = (state: number, column: number): number => next[state * width + column] ?? 0
  const end = (state: number, more: readonly number[] = []): void => {
    if (more.length > 0) found[state] = [...(found[state] ?? []), ...more]
  }

  let states = 1
  for (const { word, index } of words) {
    let state = 0
    for (let i = 0; i < word.length; i++) {
      const column = columns[word.charCodeAt(i)] ?? 0
      if (at(state, column) === 0) next[state * width + column] = states++
      state = at(state, column)
    }
    end(state, [index])
  }

  // Breadth first: where a word does not go on, the longest of its ends that begins a word does.
  const shorter = new Uint32Array(states)
  const queue = [0]
  for (const state of queue) {
    for (let column = 0; column < width; column++) {
      const instead = state === 0 ? 0 : at(shorter[state] ?? 0, column)
      const child = at(state, column)
      if (child === 0) next[state * width + column] = instead
      else {
        shorter[child] = instead
        end(child, found[instead])
        queue.push(child)
      }
    }
  }
  return { next, found }
}
