/** Calls `found` for every word in a text, by the index of the list that has it, in the order of their starts. */
export type Search = (text: string, found: (index: number, start: number, end: number) => void) => void

/**
 * Compiles lists of lower-case words to a search for all of them at once, in one pass over a text, whose
 * capitals count as lower case. Where no three characters stand that begin a word, it looks no closer.
 */
export function compileKeywords(lists: readonly (readonly string[])[]): Search {
  const words = lists.flatMap((list, index) => list.map((word) => ({ word, index })))
  const { columns, width } = columnsOf(words.map(({ word }) => word).join(''))
  const { next, ends } = treeOf(words, columns, width)
  const classes = new Uint8Array(columns.map(classOf))
  const follow = followingOf(words, classes)

  return (text, found) => {
    const { length } = text
    /** Finds the words that begin at a place. */
    const read = (start: number): void => {
      let state = 0
      for (let at = start; at < length; at++) {
        state = next[state * width + (columns[text.charCodeAt(at)] ?? 0)] ?? 0
        if (state === 0) return
        const here = ends[state]
        if (here === undefined) continue
        for (let each = 0; each < here.length; each++) found(here[each] ?? 0, start, at + 1)
      }
    }
    let three = 0
    for (let at = 0; at < length; at++) {
      const last = classes[text.charCodeAt(at)] ?? 0
      if ((((follow[three] ?? 0) >>> last) & 1) === 1) read(at - 3)
      three = ((three << bits) | last) & ofThree
    }
    // Behind these stand fewer.
    for (let start = Math.max(0, length - 3); start < length; start++) read(start)
  }
}

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

interface Word {
  readonly word: string
  readonly index: number
}

/** `next` is a table of states by columns, 0 where no word goes on; `ends` has the lists of the words that end in a state. */
function treeOf(words: readonly Word[], columns: Uint16Array, width: number) {
  const most = words.reduce((sum, { word }) => sum + word.length, 1)
  const next = new Uint32Array(most * width)
  const ends: (number[] | undefined)[] = [undefined]
  for (const { word, index } of words) {
    let state = 0
    for (let at = 0; at < word.length; at++) {
      const place = state * width + (columns[word.charCodeAt(at)] ?? 0)
      state = next[place] || ends.push(undefined) - 1
      next[place] = state
    }
    const here = ends[state]
    if (here === undefined) ends[state] = [index]
    else here.push(index)
  }
  return { next: next.slice(0, ends.length * width), ends }
}

/** Of a class of characters. */
const bits = 5
const mostClasses = 1 << bits
const ofThree = (1 << (3 * bits)) - 1
const any = 0xffff_ffff

/** Some columns share a class; what no word has has its own. */
const classOf = (column: number): number => (column === 0 ? 0 : 1 + (column % (mostClasses - 1)))

/** By the classes of three characters, a bit for each class that may stand behind them where a word begins with them. */
function followingOf(words: readonly Word[], classes: Uint8Array): Uint32Array {
  const follow = new Uint32Array(1 << (3 * bits))
  for (const { word } of words) {
    const [one = 0, two = 0, three = 0, last] = Array.from(word, (_, at) => classes[word.charCodeAt(at)])
    const begin = (((one << bits) | two) << bits) | three
    // Whatever may stand behind a shorter word.
    if (last === undefined) follow.fill(any, begin, begin + (1 << (bits * (3 - Math.min(3, word.length)))))
    else follow[begin] = (follow[begin] ?? 0) | (1 << last)
  }
  return follow
}
