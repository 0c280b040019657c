import { codeAt, type Span } from '../spans.js'

/** Words in a text, by the index of the list that has them, in the order of their starts. */
export type Words = ReadonlyMap<number, readonly Span[]>

/** Of the class of a character. */
const bits = 6
/** Characters by which words are looked up. */
const looked = 3
const mask = 2 ** (bits * looked) - 1

/** A word, the lists that have it, and the class of its next character, if it is that long. */
interface Word {
  readonly word: string
  readonly lists: readonly number[]
  readonly next: number | undefined
}

/**
 * Compiles lists of lower-case words to a search for all of them at once, in one pass over a text, whose
 * capitals count as lower case. Where nothing stands that begins a word, it looks no closer.
 */
export function compileKeywords(lists: readonly (readonly string[])[]): (text: string) => Words {
  /** By character code; what no word has is of class 0. */
  const classes = new Uint8Array(0x10000)
  for (const [index, letter] of [...new Set(lists.flat().join('').split(''))].entries()) {
    for (const each of [letter, letter.toUpperCase()])
      if (each.length === 1) classes[each.charCodeAt(0)] = 1 + (index % (2 ** bits - 1))
  }
  const classAt = (text: string, at: number): number =>
    at < text.length ? (classes[codeAt(text, at)] ?? 0) : 0

  const listsOf = new Map<string, number[]>()
  for (const [index, list] of lists.entries())
    for (const word of list) listsOf.set(word, [...(listsOf.get(word) ?? []), index])
  /** By the classes of as many characters as are looked at, which words may begin there; some are alike. */
  const begun = new Uint16Array(mask + 1)
  const words: Word[][] = [[]]
  for (const [word, lists] of listsOf) {
    const open = bits * Math.max(0, looked - word.length)
    let first = 0
    for (let at = 0; at < looked; at++) first = (first << bits) | classAt(word, at)
    const next = word.length > looked ? classAt(word, looked) : undefined
    const added = new Map<number, number>()
    for (let code = first; code < first + 2 ** open; code++) {
      const before = begun[code] ?? 0
      const after = added.get(before) ?? words.push([...(words[before] ?? []), { word, lists, next }]) - 1
      added.set(before, after)
      begun[code] = after
    }
  }

  return (text) => {
    const found = new Map<number, Span[]>()
    let seen = 0
    // Behind the end stand characters of no word.
    for (let at = 0; at < text.length + looked - 1; at++) {
      seen = ((seen << bits) | classAt(text, at)) & mask
      const list = begun[seen]
      if (list === 0 || list === undefined) continue
      const start = at - looked + 1
      const behind = classAt(text, at + 1)
      for (const { word, lists, next } of words[list] ?? []) {
        if (next !== undefined && next !== behind) continue
        const end = start + word.length
        if (text.slice(start, end).toLowerCase() !== word) continue
        for (const index of lists) {
          const spans = found.get(index)
          if (spans === undefined) found.set(index, [{ start, end }])
          else spans.push({ start, end })
        }
      }
    }
    return found
  }
}
