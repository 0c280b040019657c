/** Characters from `start` up to, and without, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The last of several, in order, that starts at `index` or before. */
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
 * The code of a character, for loops over all of a text: V8 keeps strings in many forms, and a loop that has met several
 * of them looks up the method of each character anew; here it is at hand.
 */
export const codeAt = (text: string, at: number): number => charCodeAt.call(text, at)

/** By character code (UTF-16), whether a character is one of those that a stretch is made of: 1 = it is. */
export type Characters = Uint8Array

/** What `\s` stands for in JavaScript. */
export const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

/** How many character codes there are. */
const codes = 0x10000

/** Those of a string. */
export const charSet = (text: string): Characters => marked(text, 1)

/** All but those of a string. */
export const charSetExcept = (text: string): Characters => marked(text, 0)

function marked(text: string, mark: 0 | 1): Characters {
  const characters = new Uint8Array(codes).fill(1 - mark)
  for (let at = 0; at < text.length; at++) characters[text.charCodeAt(at)] = mark
  return characters
}

/** Every stretch, as long as it can be, of at least `shortest` such characters between `from` and `to`; in order. */
export function findStretches(
  characters: Characters,
  shortest: number,
  text: string,
  from = 0,
  to = text.length,
): readonly Span[] {
  const found: Span[] = []
  // Of so many characters in a row, one at least is looked at.
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

/** Characters in which the secret of a keyword is looked for before and behind it, beside the rest of a word there. */
const charsBefore = 160
const charsBehind = 128

/** Characters of a word that count as one. */
const maxWordChars = 4096
/** Characters before a word that may say what it is. */
const labelChars = 64
/** Places up to so far apart are looked at together. */
const maxGapChars = 512

/**
 * Spans of a text that have the surroundings of all places in it, which ascend. They may overlap: as one, they would be
 * the whole text where such places are many.
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

/** How much of a text may belong to what began before it. */
export const continuationEnd = (text: string): number => wordEnd(text, charsBehind)

const blank = ' '.charCodeAt(0)
export const isVisible = (text: string, at: number): boolean => codeAt(text, at) > blank

/** Where the word starts that `from` is inside of, with what may be its label, in whole words; but not before `least`. */
export const phraseStart = (text: string, from: number, least: number): number =>
  wordStart(text, wordStart(text, from, least, maxWordChars) - labelChars, least, labelChars)

function wordStart(text: string, from: number, least: number, longest: number): number {
  const first = Math.max(least, from - longest)
  let at = Math.max(least, from)
  while (at > first && isVisible(text, at - 1)) at--
  return at
}

/** Where the word ends that `from` is inside of. */
export function wordEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + maxWordChars)
  let at = Math.min(text.length, from)
  while (at < last && isVisible(text, at)) at++
  return at
}
