import { codeAt } from './code-at.js'
import type { Span } from './span.js'

/** Characters in which the secret of a keyword is looked for before and behind it, beside the rest of a word there. */
const before = 160
const behind = 128

/** Characters of a word that count as one. */
const longestWord = 4096
/** Characters before a word that may say what it is. */
const label = 64
/** Places up to so far apart are looked at together. */
const together = 512

/**
 * Spans of a text that have the surroundings of all places in it, which ascend. They may overlap: as one, they would be
 * the whole text where such places are many.
 */
export function surroundings(text: string, places: readonly number[]): Span[] {
  const spans: { first: number; start: number; end: number }[] = []
  for (const place of places) {
    const last = spans.at(-1)
    if (last !== undefined && place + behind <= last.end) continue
    const end = wordEnd(text, place + behind)
    if (last !== undefined && place - last.first <= together) last.end = end
    else spans.push({ first: place, start: Math.max(0, place - before), end })
  }
  return spans
}

/** How much of a text may belong to what began before it. */
export const continuationEnd = (text: string): number => wordEnd(text, behind)

const blank = ' '.charCodeAt(0)
const isOfWord = (text: string, at: number): boolean => codeAt(text, at) > blank

/** Where the word starts that `from` is inside of, with what may be its label, in whole words; but not before `least`. */
export const phraseStart = (text: string, from: number, least: number): number =>
  wordStart(text, wordStart(text, from, least, longestWord) - label, least, label)

function wordStart(text: string, from: number, least: number, longest: number): number {
  const first = Math.max(least, from - longest)
  let at = Math.max(least, from)
  while (at > first && isOfWord(text, at - 1)) at--
  return at
}

/** Where the word ends that `from` is inside of. */
export function wordEnd(text: string, from: number): number {
  const last = Math.min(text.length, from + longestWord)
  let at = Math.min(text.length, from)
  while (at < last && isOfWord(text, at)) at++
  return at
}
