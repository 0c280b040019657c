/** Tells where no word begins, by the first characters of all words. */
export interface WordStarts {
  /** By character code; what no word has is of class 0. */
  readonly classes: Uint8Array
  /**
   * By the classes of two characters, a bit for each group of words at each of its places: whether they may stand there
   * in one of its words.
   */
  readonly follow: Uint32Array
}

/** Of a class. */
export const bits = 6
const mostClasses = 1 << bits
/** Characters of a word that are looked at. */
export const looked = 4
/** Groups of words. Of the three pairs of characters that are looked at, each has so many bits. */
export const groups = 10

/** Columns past the last class share it. */
const classOf = (column: number): number => Math.min(column, mostClasses - 1)

export function compileStarts(words: readonly string[], columns: Uint16Array): WordStarts {
  const classes = new Uint8Array(columns.map(classOf))
  const follow = new Uint32Array(mostClasses * mostClasses)
  const allow = (first: number | undefined, second: number | undefined, bit: number): void => {
    for (const one of first === undefined ? every : [first]) {
      for (const other of second === undefined ? every : [second]) {
        const two = (one << bits) | other
        follow[two] = (follow[two] ?? 0) | bit
      }
    }
  }
  const starts = [...new Set(words.map((word) => word.slice(0, looked)))].sort()
  const whole = starts.filter(({ length }) => length === looked)
  for (const start of starts) {
    const group =
      start.length < looked ? groupOfShort(start) : groupOfWhole(whole.indexOf(start), whole.length)
    const letters = Array.from(start.split(''), (each) => classes[each.charCodeAt(0)] ?? 0)
    // Whatever may stand behind a shorter word.
    for (let at = 0; at < looked - 1; at++) allow(letters[at], letters[at + 1], 1 << (at * groups + group))
  }
  return { classes, follow }
}

const every = Array.from({ length: mostClasses }, (_, index) => index)

/** Short words are among themselves: they tell little. */
const groupsOfShort = 2
const groupOfShort = ({ length }: string): number => (length < looked - 1 ? 0 : 1)

/** Those that begin alike are together. */
const groupOfWhole = (index: number, count: number): number =>
  groupsOfShort + Math.floor((index * (groups - groupsOfShort)) / count)
