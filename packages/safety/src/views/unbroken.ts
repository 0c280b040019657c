import type { Replacement } from './view.js'

/** A line's end with what continues it, and the seam of a string in two pieces: `" + "`. Anchored, so it is linear. */
const breaks = /(["'`])(?:[ \t]*\+)?[ \t]*(?:\\?\r?\n[ \t]*)?(?:\+[ \t]*)?\1|(?<![ \t])[ \t]*\\?\r?\n[ \t]*/g

/** Reads a token that is broken over lines in one piece. Words of prose stay apart. */
export function* unbroken(text: string): Generator<Replacement> {
  for (const { 0: seam, index } of text.matchAll(breaks)) {
    const end = index + seam.length
    if (isSeam(seam) && isInsideToken(text, index, end)) yield { start: index, end, by: '' }
  }
}

/** `""` is an empty string, not a seam. */
const isSeam = (found: string): boolean => found.includes('\n') || found.includes('+')

/** Characters on either side that tell what is broken. */
const sight = 64
const wordBefore = /[^\s"'`]+$/
const wordBehind = /^[^\s"'`]+/
/** As programs and settings have them; what a token looks like is no name. */
const name = '(?:[a-z][a-z_.-]*|[A-Z][A-Z_]*|[a-z]+(?:[A-Z][a-z]+)+)\\d?["\'`]?'
/** What begins a line of its own: `name=value`, `name = value`, `name: value`, and the signs of lists. */
const beginning = new RegExp(
  `^(?:${name}(?:=[^\\s=]|[ \\t]+=[ \\t]*[^\\s=]|[ \\t]*:(?:\\s|$))|(?:\\d{1,3}[.)]|[-*+>#|]{1,6})(?:\\s|$))`,
)

function isInsideToken(text: string, start: number, end: number): boolean {
  const before = wordBefore.exec(text.slice(Math.max(0, start - sight), start))?.[0]
  const rest = text.slice(end, end + sight)
  const behind = wordBehind.exec(rest)?.[0]
  if (before === undefined || behind === undefined || beginning.test(rest)) return false
  return isTokenLike(behind) || (isTokenLike(before) && !sentence.test(rest))
}

const punctuation = /[.,;:!?)\]]+$/
const tokenLike = /[\d_%+=@/~$#!^&]|[a-z][A-Z]|[A-Z]{4}|-.*-|.{20}/

/** Prose is made of letters, capital ones at the beginning of a word alone. */
const isTokenLike = (word: string): boolean => tokenLike.test(word.replace(punctuation, ''))

/** A word with others behind it, or with a sign. One that is alone in its line may well be the rest of a token. */
const sentence = /^[A-Z]?[a-z]*(?:[ \t]+[^\s"'`]|[.,;:!?)\]])/
