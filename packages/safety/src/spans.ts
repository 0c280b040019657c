/** The characters of a text from `start` (inclusive) to `end` (exclusive). */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Finds the last of several sorted spans that starts at or before `index`. */
export function lastFrom<Each extends { readonly start: number }>(
  ordered: readonly Each[],
  index: number,
): Each | undefined {
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ordered[middle]?.start ?? 0) <= index) low = middle + 1
    else high = middle
  }
  return ordered[low - 1]
}

const { charCodeAt } = String.prototype

/**
 * Returns the code of a character, for loops over a text: V8 has many string representations, and a loop over several of them
 * would look up the method for each character.
 */
export const codeAt = (text: string, at: number): number => charCodeAt.call(text, at)

/** A set of characters as an array by UTF-16 code: 1 = the set contains it. */
export type Characters = Uint8Array

/** The characters that `\s` matches in JavaScript. */
export const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

/** Number of UTF-16 codes. */
const codes = 0x10000

/** Creates the set of the characters of a string. */
export const charSet = (text: string): Characters => marked(text, 1)

/** The complement of `charSet`. */
export const charSetExcept = (text: string): Characters => marked(text, 0)

function marked(text: string, mark: 0 | 1): Characters {
  const characters = new Uint8Array(codes).fill(1 - mark)
  for (let at = 0; at < text.length; at++) characters[text.charCodeAt(at)] = mark
  return characters
}

/** Finds all maximal runs of at least `shortest` characters of the set between `from` and `to`, in order. */
export function findStretches(
  characters: Characters,
  shortest: number,
  text: string,
  from = 0,
  to = text.length,
): readonly Span[] {
  const found: Span[] = []
  // The checked positions are `shortest` apart, so each run of this length contains one of them.
  for (let at = from + shortest - 1; at < to; at += shortest) {
    if (characters[codeAt(text, at)] !== 1) continue
    let start = at
    while (start > from && characters[codeAt(text, start - 1)] === 1) start--
    let end = at + 1
    while (end < to && characters[codeAt(text, end)] === 1) end++
    if (end - start >= shortest) found.push({ start, end })
    at = end
  }
  return found
}

/** Characters before and after a keyword that are searched, besides the rest of a word. */
const charsBefore = 160
const charsBehind = 128

/** Maximum characters of a word that are examined. */
const maxWordChars = 4096
/** Characters before a word in which its label, such as `password:`, may be. */
const labelChars = 64
/** Maximum characters from the first to the last of several keywords that are examined together. */
const maxGapChars = 512

/**
 * Returns the surroundings of ascending positions. They may overlap: if they were merged, many positions would give the whole
 * text.
 */
export function surroundings(text: string, places: readonly number[]): Span[] {
  const spans: { first: number; start: number; end: number }[] = []
  for (const place of places) {
    const last = spans.at(-1)
    if (last !== undefined && place + charsBehind <= last.end) continue
    const end = wordEnd(text, place + charsBehind)
    if (last !== undefined && place - last.first <= maxGapChars) last.end = end
    else spans.push({ first: place, start: Math.max(0, place - charsBefore), end })
  }
  return spans
}

/** Returns the end of the part of a text that may belong to a secret of an earlier text. */
export const continuationEnd = (text: string): number => wordEnd(text, charsBehind)

const blank = ' '.charCodeAt(0)
export const isVisible = (text: string, at: number): boolean => codeAt(text, at) > blank

/** Returns the start of the word around `from`, including a possible label, in whole words; not before `least`. */
export const phraseStart = (text: string, from: number, least: number): number =>
  wordStart(text, wordStart(text, from, least, maxWordChars) - labelChars, least, labelChars)

function wordStart(text: string, from: number, least: number, longest: number): number {
  const first = Math.max(least, from - longest)
  let at = Math.max(least, from)
  while (at > first && isVisible(text, at - 1)) at--
  return at
}

/** Returns the end of the word around `from`. */
export function wordEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + maxWordChars)
  let at = Math.min(text.length, from)
  while (at < last && isVisible(text, at)) at++
  return at
}
