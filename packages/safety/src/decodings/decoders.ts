import { charSet, findStretches } from '../spans.js'
import { decodeText, type Replacement, unchanged } from './decoding.js'

const unusual = /[^\t\n\r -~]/
const lineEnd = /[\u0085\u2028\u2029]/
/** Matches invisible characters, and marks that combine with the preceding character. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Script=Inherited}]/u
/** Ranges of Unicode with variants of ASCII characters, such as full-width or accented letters. */
const forms =
  '\\u00a0-\\u0233\\u02b0-\\u02e3\\u037a-\\u0385\\u1d2c-\\u1dbb\\u1e00-\\u24ea\\u2a74-\\u2a76\\u2c7c\\u2c7d\\u3000' +
  '\\u309b\\u309c\\u3200-\\u33ff\\ua7f1-\\ua7f4\\ufb00-\\ufb29\\ufc5e-\\ufc63\\ufdfa-\\uffe3\\u{107a5}' +
  '\\u{1ccd6}-\\u{1ccf9}\\u{1d400}-\\u{1d7ff}\\u{1f100}-\\u{1f190}\\u{1fbf0}-\\u{1fbf9}'
const candidate = new RegExp(`(?![\\t\\n\\r])(?:${unseen.source}|[${forms}])`, 'u')

/** Normalizes lookalikes: removes invisible characters and accents, and maps full-width and other variants to ASCII. */
export function plain(text: string): readonly Replacement[] {
  const first = text.search(unusual)
  if (first === -1) return unchanged
  const replacements: Replacement[] = []
  for (let start = first, end = start; start < text.length; start = end) {
    const code = text.codePointAt(start) ?? 0
    end = start + (code > 0xffff ? 2 : 1)
    if (code >= 0x20 && code <= 0x7e) continue
    const by = readAs(code)
    if (by !== undefined) replacements.push({ start, end, by })
  }
  return replacements
}

/** Cache of normalized characters, which are slow to compute. */
const known = new Map<number, string | undefined>()
const maxKnown = 4096

function readAs(code: number): string | undefined {
  const by = known.get(code)
  if (by !== undefined || known.has(code)) return by
  if (known.size >= maxKnown) known.clear()
  const character = String.fromCodePoint(code)
  const read = candidate.test(character) ? inAscii(character) : undefined
  known.set(code, read)
  return read
}

function inAscii(character: string): string | undefined {
  if (lineEnd.test(character)) return '\n'
  if (unseen.test(character)) return ''
  const ascii = character.normalize('NFKD').replace(/[^ -~]/g, '')
  // Leaves an ellipsis unchanged, instead of mapping it to three dots.
  return ascii === '' || ascii === '...' ? undefined : ascii
}

const encoded = /(?:%[0-9a-f]{2})+/gi
const utf8 = new TextDecoder()

/** Decodes percent escapes: `%41` becomes `A`. A run of escapes counts as one replacement. */
export function percent(text: string): readonly Replacement[] {
  if (!text.includes('%')) return unchanged
  const replacements: Replacement[] = []
  for (const { 0: run, index } of text.matchAll(encoded)) {
    const bytes = run.slice(1).split('%')
    const read = utf8.decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)))
    replacements.push({ start: index, end: index + run.length, by: decodeText(read, plain) })
  }
  return replacements
}

/** Minimum characters of a base64 run: shorter ones are shorter than the secrets of all rules. */
const minRunChars = 16
const digits = charSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_')

/** Matches readable text in a decoded run. Ordinary words that resemble base64 decode to noise without readable text. */
const readable = /[\t\n\r -~]{11,}/g
/**
 * Matches a run that may contain readable text: three groups of base64 digits, each of which decodes to three readable bytes.
 * Readable text contains them at any alignment.
 */
const begun = /(?:[CDI-Za-f][ACDEFGHQSTUVWXgijklmnwyz0123][ABEFIJMNQRUVYZcdghklopstwx014589][\w+/-]){3}/

/** Matches the padding at the end of a base64 run. */
const padding = /={0,2}/y

/** Decodes base64 in both alphabets, padded or not. A run counts as one replacement, even if only a part of it is readable. */
export function base64(text: string): readonly Replacement[] {
  const replacements: Replacement[] = []
  for (const { start, end } of findStretches(digits, minRunChars, text)) {
    const run = text.slice(start, end)
    const by = begun.test(run) ? readRun(run.replaceAll('-', '+').replaceAll('_', '/')) : ''
    if (by === '') continue
    padding.lastIndex = end
    replacements.push({ start, end: end + (padding.exec(text)?.[0].length ?? 0), by })
  }
  return replacements
}

/**
 * Decodes a run at each of the four alignments, because a path or a word may precede the base64. Returns the readable parts.
 */
const readRun = (run: string): string =>
  [0, 1, 2, 3].flatMap((from) => decodeFrom(run, from).match(readable) ?? []).join('\n')

function decodeFrom(run: string, from: number): string {
  // A single remaining digit is less than a byte, so drop it.
  const isOver = (run.length - from) % 4 === 1
  return atob(run.slice(from, isOver ? -1 : undefined))
}

/**
 * Matches the end of a line with its continuation, and the joint of a string in two pieces: `" + "`. Anchored, so that matching
 * is linear.
 */
const breaks = /(["'`])(?:[ \t]*\+)?[ \t]*(?:\\?\r?\n[ \t]*)?(?:\+[ \t]*)?\1|\n(?<=([ \t]*\\?\r?)\n)[ \t]*/g

/** Joins a token that is broken over lines. Words of prose stay separate. */
export function unbroken(text: string): readonly Replacement[] {
  // A break always contains a newline or a `+`.
  if (!text.includes('\n') && !text.includes('+')) return unchanged
  const replacements: Replacement[] = []
  for (const { 0: seam, 2: before = '', index } of text.matchAll(breaks)) {
    const [start, end] = [index - before.length, index + seam.length]
    if (isSeam(seam) && isInsideToken(text, start, end)) replacements.push({ start, end, by: '' })
  }
  return replacements
}

/** Whether a match joins two pieces: `""` alone is an empty string. */
const isSeam = (found: string): boolean => found.includes('\n') || found.includes('+')

/** Characters before and after a break that decide whether it splits a token. */
const contextChars = 64
/** Match the words before and after a position. */
const beforePlace = /(?<=([^\s"'`]{0,64}))/y
const behindPlace = /([^\s"'`]{0,64})/y
/** Matches names in programs and settings, but not token-like texts. */
const name = '(?:[a-z][a-z_.-]*|[A-Z][A-Z_]*|[a-z]+(?:[A-Z][a-z]+)+)\\d?["\'`]?'
/**
 * Matches the beginning of a line that does not continue the previous one: `name=value`, `name = value`, `name: value`,
 * `Name-Of-Header:`, list markers, times, words in capitals, `[section]`, tags and comments.
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
  const rest = text.slice(end, end + contextChars)
  return !beginning.test(rest) && (isBehind || !sentence.test(rest))
}

function wordAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[1] ?? ''
}

const punctuation = /[.,;:!?)\]]+$/
const tokenLike = /[\d_%+=@/~$#!^&]|[a-z][A-Z]|[A-Z]{4}|-.*-|.{20}/

/** Whether a word may be part of a token. Words of prose consist of letters, with capitals only at the beginning. */
const isTokenLike = (word: string): boolean => tokenLike.test(word.replace(punctuation, ''))

/** Matches a word of a sentence: other words or punctuation follow. A word alone on its line may be the rest of a token. */
const sentence = /^[A-Z]?[a-z]*(?:[ \t]+[^\s"'`]|[.,;:!?)\]])/
