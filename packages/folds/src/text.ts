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

/** The rationale in turns and events of a call whose agent gave none [MEUP-6.7]. */
export const FALLBACK_RATIONALE = 'Tool selected to satisfy the current subtask.'

/** Never blank; `null` if the sender gave none, or the gateway withheld it. */
export const getRationale = ({
  rationale = '',
}: {
  readonly rationale?: string | undefined
}): string | null => (isBlank(rationale) ? null : rationale)

/** A rationale for people. */
export const reasonText = (rationale: string | null): string => rationale ?? 'no reason given'

export const isBlank = (text: string): boolean => text.trim() === ''

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first `maxUnits` UTF-16 units, or one less where that would leave half a character. */
export function head(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(maxUnits - 1))
  return text.slice(0, isHalf ? maxUnits - 1 : maxUnits)
}

/** At most `maxUnits` UTF-16 units; what is cut ends in `…`. */
export const cut = (text: string, maxUnits: number): string =>
  text.length <= maxUnits ? text : `${head(text, maxUnits - 1)}…`

const invisible = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** A letter of a script that is written with joiners, or an emoji. */
const joined =
  '(?![\\p{sc=Latin}\\p{sc=Cyrillic}\\p{sc=Greek}\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}])[\\p{L}\\p{M}\\p{ExtPict}\\p{EMod}]'
/**
 * All of these but joiners that are part of how a word or an emoji is written: in between, or after the virama of an older Malayalam
 * spelling. The character comes first, so that what stands around it is looked at rarely.
 */
const unprintable = new RegExp(
  `[\\p{Cc}\\p{Cf}\\u2028\\u2029](?<!${joined}[\\u200c\\u200d](?=(?!\\p{VS})${joined})|\\u0d4d\\u200d)`,
  'gu',
)

/**
 * Text from others, safe for a terminal: control characters (but line breaks and tabs), bidirectional overrides and
 * invisible format characters are taken out, so that nobody can move the cursor or disguise a line.
 */
export const printable = (text: string): string =>
  text.replaceAll('\r\n', '\n').replace(unprintable, (char) => (char === '\n' || char === '\t' ? char : ''))

/** What would not be seen, would move what is seen, or has no meaning or looks that people know: every space but one, too. */
export const unseen = /[\p{Cc}\p{Cf}\p{DI}\p{Cn}\p{Co}\p{Cs}\u2028\u2029\u2800\ufffc\u{1d159}]|(?! )\p{Zs}/gu

/** The same on one line. */
export const onOneLine = (text: string): string => printable(text).replace(/\s+/g, ' ').trim()

/** The first `maxChars` characters on one line; what is cut is marked. */
export function brief(text: string, maxChars: number): string {
  const line = onOneLine(text)
  const characters = [...line]
  return characters.length <= maxChars ? line : `${characters.slice(0, maxChars - 1).join('')}…`
}

/** JSON on one line with the same characters escaped, so that it still parses to the same value. */
export const printableJson = (value: unknown): string =>
  String(stringifyExact(value)).replace(invisible, escapeUnits)

/** One escape for each UTF-16 unit, as JSON requires. */
export const escapeUnits = (characters: string): string =>
  Array.from({ length: characters.length }, (_, at) => {
    return `\\u${characters.charCodeAt(at).toString(16).padStart(4, '0')}`
  }).join('')

/** JSON on one line for people, `{ "query": "updates", "limit": 5 }`; past `maxUnits` UTF-16 units it is cut. */
export const inlineJson = (value: unknown, maxUnits: number): string =>
  cut(spaced(value, { left: maxUnits }), maxUnits)

/** Stops once the budget is spent: the caller cuts the text there. */
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

/** Milliseconds below a tenth of a second, tenths below a minute, else the two largest units: `34 ms`, `0.4 s`, `8.2 s`, `3 min 20 s`, `2 h 5 min`, `3 d`. Never negative. */
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

/**
 * A text of which only the first line stands at the margin: a further line could be taken for one of somebody else. `prefix`:
 * what the others begin with.
 */
export const keepOffMargin = (text: string, prefix: string): string => text.replaceAll('\n', `\n${prefix}`)
