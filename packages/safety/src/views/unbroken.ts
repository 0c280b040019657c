import { type Replacement, unchanged } from './view.js'

/** A line's end with what continues it, and the seam of a string in two pieces: `" + "`. Anchored, so it is linear. */
const breaks = /(["'`])(?:[ \t]*\+)?[ \t]*(?:\\?\r?\n[ \t]*)?(?:\+[ \t]*)?\1|\n(?<=([ \t]*\\?\r?)\n)[ \t]*/g

/** Reads a token that is broken over lines in one piece. Words of prose stay apart. */
export function unbroken(text: string): readonly Replacement[] {
  // No seam is without.
  if (!text.includes('\n') && !text.includes('+')) return unchanged
  const replacements: Replacement[] = []
  for (const { 0: seam, 2: before = '', index } of text.matchAll(breaks)) {
    const [start, end] = [index - before.length, index + seam.length]
    if (isSeam(seam) && isInsideToken(text, start, end)) replacements.push({ start, end, by: '' })
  }
  return replacements
}

/** `""` is an empty string, not a seam. */
const isSeam = (found: string): boolean => found.includes('\n') || found.includes('+')

/** Characters on either side that tell what is broken. */
const sight = 64
/** Words up to a place, and from there on. */
const beforePlace = /(?<=([^\s"'`]{0,64}))/y
const behindPlace = /([^\s"'`]{0,64})/y
/** As programs and settings have them; what a token looks like is no name. */
const name = '(?:[a-z][a-z_.-]*|[A-Z][A-Z_]*|[a-z]+(?:[A-Z][a-z]+)+)\\d?["\'`]?'
/**
 * What begins a line of its own: `name=value`, `name = value`, `name: value`, `Name-Of-Header:`, the signs of lists, times,
 * words in capitals, `[section]`, tags and comments.
 */
const beginning = new RegExp(
  `^(?:(?:[A-Z][A-Za-z]*-)*[A-Z][A-Za-z]+:\\s|\\d{1,4}([:-])\\d\\d\\1\\d\\d|[A-Z]{3,9}[ \\t]|\\[[a-z]+\\]|--?[a-z]|</?[a-z!?]|//|${name}(?:=[^\\s=]|[ \\t]+=[ \\t]*[^\\s=]|[ \\t]*:(?:\\s|$))|(?:\\d{1,3}[.)]|[-*+>#|]{1,6})(?:\\s|$))`,
)

function isInsideToken(text: string, start: number, end: number): boolean {
  const before = wordAt(beforePlace, text, start)
  const behind = wordAt(behindPlace, text, end)
  if (before === '' || behind === '') return false
  const isBehind = isTokenLike(behind)
  if (!isBehind && !isTokenLike(before)) return false
  const rest = text.slice(end, end + sight)
  return !beginning.test(rest) && (isBehind || !sentence.test(rest))
}

function wordAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[1] ?? ''
}

const punctuation = /[.,;:!?)\]]+$/
const tokenLike = /[\d_%+=@/~$#!^&]|[a-z][A-Z]|[A-Z]{4}|-.*-|.{20}/

/** Prose is made of letters, capital ones at the beginning of a word alone. */
const isTokenLike = (word: string): boolean => tokenLike.test(word.replace(punctuation, ''))

/** A word with others behind it, or with a sign. One that is alone in its line may well be the rest of a token. */
const sentence = /^[A-Z]?[a-z]*(?:[ \t]+[^\s"'`]|[.,;:!?)\]])/
