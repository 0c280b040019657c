import { codeAt } from './code-at.js'
import type { Span } from './span.js'

/** By character code (UTF-16), whether a character is one of those that a stretch is made of: 1 = it is. */
export type Characters = Uint8Array

/** What `\s` stands for in JavaScript. */
export const blanks =
  '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff'

/** How many character codes there are. */
const codes = 0x10000

/** Those of a string. */
export const charactersOf = (text: string): Characters => marked(text, 1)

/** All but those of a string. */
export const charactersBut = (text: string): Characters => marked(text, 0)

function marked(text: string, mark: 0 | 1): Characters {
  const characters = new Uint8Array(codes).fill(1 - mark)
  for (let at = 0; at < text.length; at++) characters[text.charCodeAt(at)] = mark
  return characters
}

/** Every stretch, as long as it can be, of at least `shortest` such characters between `from` and `to`; in order. */
export function stretchesOf(
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
