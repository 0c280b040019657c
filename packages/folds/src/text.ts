import { getNumberText, stringifyExact } from '@meup/protocol'

type Payload = Readonly<Record<string, unknown>>

/** The text of a chat or reasoning payload, in any of its forms; `''` if it has none. */
export function getMessage({ message, content, goal, decision, hypothesis }: Payload): string {
  const text = message ?? content ?? goal ?? decision ?? hypothesis
  return typeof text === 'string' ? text : ''
}

/** Whether the guard withheld the text [MEUP-6.6]. */
export function isWithheld({ metadata }: Payload): boolean {
  return isObject(metadata) && metadata.withheld === true
}

/** The rationale that turns and events give for a call without one [MEUP-6.7]. */
export const FALLBACK_RATIONALE = 'Tool selected to satisfy the current subtask.'

/** Returns the rationale of a call, never blank; `null` if there is none, or the gateway withheld it. */
export const getRationale = ({
  rationale = '',
}: {
  readonly rationale?: string | undefined
}): string | null => (isBlank(rationale) ? null : rationale)

/** The rationale as people read it. */
export const reasonText = (rationale: string | null): string => rationale ?? 'no reason given'

export const isBlank = (text: string): boolean => text.trim() === ''

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the first `maxUnits` UTF-16 units, or one less so as not to split a surrogate pair. */
export function head(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(maxUnits - 1))
  return text.slice(0, isHalf ? maxUnits - 1 : maxUnits)
}

/** Cuts a text to at most `maxUnits` UTF-16 units; a cut text ends in `…`. */
export const cut = (text: string, maxUnits: number): string =>
  text.length <= maxUnits ? text : `${head(text, maxUnits - 1)}…`

const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Matches a letter of a script that uses joiners, or an emoji. */
const joined =
  '(?![\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}])[\\p{L}\\p{M}\\p{ExtPict}\\p{EMod}]'
/**
 * Matches control and format characters, except joiners that belong to the spelling of a word or an emoji: between letters, or
 * after the virama of an older Malayalam spelling. The character comes first in the expression, so that the look-arounds are
 * rarely evaluated.
 */
const unprintable = new RegExp(
  `[\\p{Cc}\\p{Cf}\\u2028\\u2029](?<!${joined}[\\u200c\\u200d](?=(?!\\p{VS})${joined})|\\u0d4d\\u200d)`,
  'gu',
)

/**
 * Makes a participant's text safe for a terminal: removes control characters (except line breaks and tabs), bidirectional
 * overrides and invisible format characters, so that no text can move the cursor or disguise a line.
 */
export const printable = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(unprintable, (char) => (char === '\n' || char === '\t' ? char : ''))

/** Matches characters that are invisible, reorder text, or have no defined appearance, and every space except U+0020. */
export const unseen = /[\p{Cc}\p{Cf}\p{DI}\p{Cn}\p{Co}\p{Cs}\u2028\u2029\u2800\ufffc\u{1d159}]|(?! )\p{Zs}/gu

/** Returns `printable` text on one line. */
export const onOneLine = (text: string): string => printable(text).replace(/\s+/g, ' ').trim()

/** Returns the first `maxChars` characters on one line, with `…` if cut. */
export function brief(text: string, maxChars: number): string {
  const line = onOneLine(text)
  const characters = [...line]
  return characters.length <= maxChars ? line : `${characters.slice(0, maxChars - 1).join('')}…`
}

/** JSON on one line with invisible characters escaped, so that it parses to the same value. */
export const printableJson = (value: unknown): string =>
  String(stringifyExact(value)).replace(invisible, escapeUnits)

/** Writes each UTF-16 unit as a JSON escape (`\u00a0`). */
export const escapeUnits = (characters: string): string =>
  Array.from({ length: characters.length }, (_, at) => {
    return `\\u${characters.charCodeAt(at).toString(16).padStart(4, '0')}`
  }).join('')

/** JSON on one line with spaces, for people: `{ "query": "updates", "limit": 5 }`; cut after `maxUnits` UTF-16 units. */
export const inlineJson = (value: unknown, maxUnits: number): string =>
  cut(spaced(value, { left: maxUnits }), maxUnits)

/** Writes JSON with spaces. Stops once the budget is spent, because the caller cuts there. */
function spaced(value: unknown, budget: { left: number }): string {
  if (budget.left <= 0) return ''
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value) ?? 'null'
    budget.left -= text.length
    return text
  }
  const spacedMember = (key: string, each: unknown): string => {
    const digits = getNumberText(value, key)
    if (digits === undefined) return spaced(each, budget)
    budget.left -= digits.length
    return digits
  }
  if (Array.isArray(value)) return `[${value.map((each, at) => spacedMember(String(at), each)).join(', ')}]`
  const members = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}: ${spacedMember(key, each)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/**
 * Formats milliseconds below a tenth of a second, tenths below a minute, otherwise the two largest units: `34 ms`, `0.4 s`,
 * `8.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d`. Never negative.
 */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.round(Math.max(milliseconds, 0))} ms`
  const tenths = Math.round(milliseconds / 100)
  if (tenths < 600) return `${tenths / 10} s`
  const seconds = Math.round(milliseconds / 1000)
  const at = units.findIndex(([, size]) => seconds >= size)
  const [name, size] = units[at] ?? ['s', 1]
  const [nextName, nextSize] = units[at + 1] ?? ['', size]
  const rest = Math.floor((seconds % size) / nextSize)
  return `${Math.floor(seconds / size)} ${name}${rest === 0 ? '' : ` ${rest} ${nextName}`}`
}

/** Indents all lines but the first, so that none can pass for a separate entry. `prefix`: the indentation. */
export const keepOffMargin = (text: string, prefix: string): string => text.replaceAll('\n', `\n${prefix}`)
