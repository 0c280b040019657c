import { codeAt } from '../code-at.js'
import type { Span } from '../span.js'
import { blanks, charactersOf } from '../stretches.js'
import { matchAt } from './match-at.js'

/** What may stand around a value in code, before its quote. */
const opening = /(?:new[ \t]+)?(?:[A-Za-z]\w*(?:\.|::))*[A-Za-z]\w*\((?=["'`])|[brfuN](?=["'`])/y
const scheme =
  /(?:Bearer|Basic|Token|Bot|ApiKey|Key|App|[A-Z]{2,8}|[A-Z][a-z]+\.[A-Z][a-z]+)[ \t]+(?=\S{12})/y
/** `{…}` and `{xor}…` of Java's servers. */
const wrapper = /\{(?:xor\})?(?=[\w+/]{12,}={0,2}(?:\}|["'<]))/iy
const quote = /\\{0,2}["'`]|\*{0,2}`|\*{2}/y
/** Of sentences. */
const ends = charactersOf('.:!?')
/** What ends a value without quotes. */
const stops = charactersOf(`${blanks}"'\`,;(){}[]<>|&\\*」』。、`)
/** A sign of that in a password, or a character of XML. */
const inside = /&(?:amp|lt|gt);|(?<=[^\s:=])[&*](?=[^\s"'`]{3})(?!\w+[=;])/y

function endOfUnquoted(text: string, from: number, longest: number): number | undefined {
  const last = Math.min(text.length, from + longest)
  let at = from
  while (at < last) {
    if (stops[codeAt(text, at)] !== 1) at++
    else {
      const end = matchAt(inside, text, at)
      if (end === undefined) break
      at = end
    }
  }
  return at === from ? undefined : at
}

/** The value that begins at a place, of which no more than `longest` characters are looked at where it has no quotes. */
export function valueAt(
  text: string,
  from: number,
  longest: number,
): (Span & { readonly isQuoted: boolean }) | undefined {
  let at = matchAt(opening, text, from) ?? from
  const inner = matchAt(quote, text, at)
  const opened = inner === undefined ? '' : text.slice(at, inner)
  at = inner ?? at
  at = matchAt(scheme, text, at) ?? at
  at = matchAt(wrapper, text, at) ?? at
  if (opened !== '') {
    const length = text.slice(at, at + longest).indexOf(opened)
    if (length > 0)
      return /\s/.test(text.slice(at, at + length)) &&
        !/^[a-z]+(?: [a-z]+)+$/.test(text.slice(at, at + length))
        ? undefined
        : { start: at, end: at + length, isQuoted: true }
  }
  const end = endOfUnquoted(text, at, longest)
  if (end === undefined) return undefined
  let last = end
  while (last > at && ends[codeAt(text, last - 1)] === 1) last--
  return { start: at, end: last, isQuoted: false }
}
