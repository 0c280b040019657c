import { getNumberText } from '@meup/protocol'
import { escapeUnits, unseen } from './text.js'

/** Letters that look like Latin ones in most fonts. */
const lookalike =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\u0131\u0138\u017f\u0250-\u02af\u{1d400}-\u{1d7ff}]/gu
const hasLatin = /\p{Script=Latin}/u
const word = /[\p{L}\p{M}\p{N}_]+/gu
/** Combining marks without a base, enclosing marks, and stacked marks, all of which can cover neighbouring characters. */
const strayMark = /\p{Me}|(?<![\p{L}\p{N}\p{M}])\p{M}|(?<=\p{M}{2})\p{M}/gu

/**
 * Replaces characters that are invisible, reorder text, look like a space, or look like a Latin letter within a Latin word by
 * JSON escapes; line breaks and tabs as well.
 */
export const spellOut = (text: string): string =>
  text
    .replace(word, (letters) => (hasLatin.test(letters) ? letters.replace(lookalike, escapeUnits) : letters))
    .replace(strayMark, escapeUnits)
    .replace(unseen, escapeUnits)

/** Escapes the name of a field or tool like `spellOut`, and also whole words of lookalikes, because programs compare names. */
const spellOutName = (name: string): string => spellOut(name.replace(lookalike, escapeUnits))

/** Whether a text in the value is displayed differently from its characters; line breaks and tabs are allowed. */
export function hasUnseen(value: unknown): boolean {
  if (typeof value === 'string') {
    const text = value.replace(/[\n\t]/g, '')
    return spellOut(text) !== text
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => spellOutName(name) !== name || hasUnseen(each))
}

/** Tokens of JSON: a string, a bracket or separator, or another literal. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/**
 * JSON on several lines with numbers and texts as written and invisible characters escaped. If the text exceeds `maxChars`,
 * returns a longer prefix than that, so that the caller sees that it is cut.
 */
export function indentJson(json: string, maxChars = Number.POSITIVE_INFINITY): string {
  const written: string[] = []
  let depth = 0
  let left = maxChars
  const write = (text: string): void => {
    written.push(text)
    left -= text.length
  }
  const newLine = (): void => write(`\n${'  '.repeat(depth)}`)
  let before = ''
  for (const [part] of json.matchAll(parts)) {
    if (left < 0) break
    const isEnd = part === '}' || part === ']'
    if (isEnd) depth--
    if (isEnd && before !== '{' && before !== '[') newLine()
    if (!isEnd && (before === '{' || before === '[')) newLine()
    if (part === ':') written.splice(-1, 1, spellOutName(before))
    // Escaping never makes a text shorter, so `left + 1` characters suffice to exceed the maximum.
    write(part === ':' ? ': ' : spellOut(part.length > left ? part.slice(0, left + 1) : part))
    if (part === ',') newLine()
    if (part === '{' || part === '[') depth++
    before = part
  }
  return written.join('')
}

/** Whether `stringifyExact` writes a value as it was sent: its numbers kept their digits, or are exact as doubles. */
export function isExactlyParsed(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([key, each]) => getNumberText(value, key) !== undefined || isExactlyParsed(each),
  )
}
