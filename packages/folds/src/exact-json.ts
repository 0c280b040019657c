import { getNumberText } from '@meup/protocol'
import { escapeUnits, unseen } from './text.js'

/** Letters that look like Latin ones in most fonts. */
const lookalike =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\u0131\u0138\u017f\u0250-\u02af\u{1d400}-\u{1d7ff}]/gu
const hasLatin = /\p{Script=Latin}/u
const word = /[\p{L}\p{M}\p{N}_]+/gu
/** Marks that stand on nothing, enclose a letter, or are heaped on one, and so cover what stands around it. */
const strayMark = /\p{Me}|(?<![\p{L}\p{N}\p{M}])\p{M}|(?<=\p{M}{2})\p{M}/gu

/**
 * A text in which nothing is hidden: what is not seen, moves what is seen, looks like a space, or like a Latin letter within a
 * Latin word, is written as its JSON escape. Line breaks and tabs are escaped, too.
 */
export const spellOut = (text: string): string =>
  text
    .replace(word, (letters) => (hasLatin.test(letters) ? letters.replace(lookalike, escapeUnits) : letters))
    .replace(strayMark, escapeUnits)
    .replace(unseen, escapeUnits)

/** A name of a field or tool: lookalikes are escaped in words of their own as well, since programs compare names. */
const spellOutName = (name: string): string => spellOut(name.replace(lookalike, escapeUnits))

/** Whether a value has a text that is not seen as it is; line breaks and tabs are. */
export function hasUnseen(value: unknown): boolean {
  if (typeof value === 'string') {
    const text = value.replace(/[\n\t]/g, '')
    return spellOut(text) !== text
  }
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, each]) => spellOutName(name) !== name || hasUnseen(each))
}

/** A string, or what stands between strings. */
const parts = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g

/**
 * JSON on many lines, every number and every text as it was written; what cannot be seen is spelled out. Of a text that becomes
 * longer than `maxChars`, a beginning that is longer.
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
    // Nothing becomes shorter when it is spelled out.
    write(part === ':' ? ': ' : spellOut(part.length > left ? part.slice(0, left + 1) : part))
    if (part === ',') newLine()
    if (part === '{' || part === '[') depth++
    before = part
  }
  return written.join('')
}

/** Whether `stringifyExact` writes a value as it was sent: its numbers have kept their digits, or a double holds them. */
export function isExactlyParsed(value: unknown): boolean {
  if (typeof value === 'number')
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(
    ([key, each]) => getNumberText(value, key) !== undefined || isExactlyParsed(each),
  )
}
