import { type Envelope, isThought, Kind } from '@meup/protocol'
import { type Guard, redact } from './redact.js'
import { brief, cut, getMessage, inlineJson, isBlank, isObject, onOneLine } from './text.js'

type Payload = Readonly<Record<string, unknown>>

/** Maximum characters of all fields, and of the name of one. */
const [maxFieldsChars, maxNameChars] = [8192, 64]
/** Maximum characters of a field that is not text, as JSON on one line. */
export const maxShownJsonChars = 500

/** The fields that `getMessage` reads, in its order. */
const textFields = ['message', 'content', 'goal', 'decision', 'hypothesis']
/**
 * Fields that `payloadText` omits: `detailsText` or a sentence (`ana → bot`) shows them, and `metadata` has flags of the guard
 * and SDK.
 */
const details: ReadonlySet<string> = new Set(['phase', 'format', 'mentions', 'references', 'metadata'])
const notes: ReadonlySet<string> = new Set(['withheld', 'unscanned', 'cancelled'])

/**
 * The text of a payload of any kind, then other fields as lines `name: value`; without `references` and `metadata`, which
 * `detailsText` shows. `guard`: for payloads that the gateway has not masked.
 */
export function payloadText(payload: Payload, guard?: Guard): string {
  const guarded = guard === undefined ? payload : (redact(payload, guard).value as Payload)
  return joinFields([getMessage(guarded), fieldsText(guarded)])
}

/** Like `payloadText`, for a thought, which may consist of `references` and `metadata` only. */
export const thoughtText = (payload: Payload): string => payloadText(payload) || detailsText(payload)

const maxQuotedChars = 300

/** A question about a thought, below a quotation of it, because the recipient may not have seen it. */
export const quoteThought = ({ payload }: Pick<Envelope, 'payload'>, question: string): string =>
  `> ${brief(onOneLine(thoughtText({ ...payload })), maxQuotedChars)}\n\n${question}`

/** The name of a thought: `hypothesis` for `reasoning.hypothesis`; `''` for plain thoughts and other kinds. */
export const thoughtName = (kind: string): string =>
  isThought(kind) && kind !== Kind.reasoningThought ? kind.slice(kind.indexOf('.') + 1) : ''

/** Prefixes the text with the name of the thought: `hypothesis: …`, unless it begins with a field of that name. */
export function withThoughtName(kind: string, text: string): string {
  const name = thoughtName(kind)
  const said = withoutThoughtName(kind, text)
  return name === '' ? text : `${name}:${said.startsWith('- ') ? '\n' : ' '}${said}`
}

/** Removes the name of the thought, for surfaces that show it separately. */
export function withoutThoughtName(kind: string, text: string): string {
  const name = thoughtName(kind)
  const label = [`${name}:`, `${name}s:`].find((each) => text.startsWith(each))
  return name === '' || label === undefined ? text : text.slice(label.length).trimStart()
}

/** All fields except the text, one per line; `''` if none. */
export function fieldsText(payload: Payload): string {
  const read = textFields.find((name) => payload[name] !== undefined && payload[name] !== null)
  const isSaid = read !== undefined && typeof payload[read] === 'string'
  return joinFields(formatLines(payload, (name) => !details.has(name) && !(isSaid && name === read)))
}

const endsInList = /(?:^|\n) {0,3}(?:[-*+•]|\d{1,9}[.)])[ \t][^\n]*$/

/** Joins a text and the following fields. A blank line ends a list, because Markdown would add the next field to its last item. */
export const joinFields = (parts: readonly string[]): string =>
  parts
    .filter((part) => !isBlank(part))
    .reduce(
      (text, part) => (text === '' ? part : `${text}${endsInList.test(text) ? '\n\n' : '\n'}${part}`),
      '',
    )

/** References and metadata on one line: `references: m1, m2 · confidence: 0.7`; `''` if there are none. */
export function detailsText({ references, metadata }: Payload): string {
  const about = isObject(metadata) ? metadata : {}
  return [...formatLines({ references }, () => true), ...formatLines(about, (name) => !notes.has(name))]
    .map((line) => line.replace(/\n(?:- )?/g, ' '))
    .join(' · ')
}

function formatLines(fields: Payload, isShown: (name: string) => boolean): string[] {
  const lines: string[] = []
  let left = maxFieldsChars
  for (const [name, value] of Object.entries(fields)) {
    if (left <= 0) return [...lines, '…']
    if (!isShown(name)) continue
    const text = valueText(value, left)
    if (isBlank(text)) continue
    const line = `${cut(name, maxNameChars)}: ${text}`.replace(/: \n/, ':\n')
    lines.push(line)
    left -= line.length
  }
  return lines
}

/** Writes a list of words on one line, and a list of sentences with a line for each. */
function valueText(value: unknown, maxUnits: number): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return cut(value, maxUnits)
  if (!Array.isArray(value) || value.length === 0 || value.some((each) => typeof each === 'object'))
    return inlineJson(value, Math.min(maxUnits, maxShownJsonChars))
  const texts = value.slice(0, maxUnits).map(String)
  const isWords = texts.every((text) => !/\s/.test(text))
  return cut(isWords ? texts.join(', ') : texts.map((text) => `\n- ${text}`).join(''), maxUnits)
}
