import type { Span } from '../span.js'

/**
 * What may stand before a value: `new Key(` or `b` before a quote, the quote, a scheme such as `Bearer`, and `{` or `{xor}`
 * of Java's servers.
 */
const lead =
  /(?:(?:new[ \t]+)?(?:[A-Za-z]\w*(?:\.|::))*[A-Za-z]\w*\((?=["'`])|[brfuN](?=["'`]))?(\\{0,2}["'`]|\*{0,2}`|\*{2})?(?:(?:Bearer|Basic|Token|Bot|ApiKey|Key|App|[A-Z]{2,8}|[A-Z][a-z]+\.[A-Z][a-z]+)[ \t]+(?=\S{12}))?(?:\{(?:[xX][oO][rR]\})?(?=[\w+/]{12,}={0,2}(?:\}|["'<])))?/y
/** A value without quotes; a sign may be of a password, and `&amp;` a character of XML. */
const unquoted =
  /^(?:[^\s"'`,;(){}[\]<>|&\\*」』。、]|&(?:amp|lt|gt);|(?<=[^\s:=])[&*](?=[^\s"'`]{3})(?!\w+[=;]))+/
/** Of a quoted value, if it is none of several words of prose. */
const one = /^(?:\S+|[a-z]+(?: [a-z]+)+)$/

/** The value that begins at a place, of which no more than `longest` characters are looked at where it has no quotes. */
export function valueAt(
  text: string,
  from: number,
  longest: number,
): (Span & { readonly isQuoted: boolean }) | undefined {
  lead.lastIndex = from
  const opened = lead.exec(text)?.[1]
  const start = lead.lastIndex
  const near = text.slice(start, start + longest)
  const length = opened === undefined ? -1 : near.indexOf(opened)
  if (length > 0)
    return one.test(near.slice(0, length)) ? { start, end: start + length, isQuoted: true } : undefined
  const value = unquoted.exec(near)?.[0].replace(/[.:!?]+$/, '')
  return value === undefined ? undefined : { start, end: start + value.length, isQuoted: false }
}
