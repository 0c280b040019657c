import { cut, onOneLine } from '@meup/folds'
import { getErrorMessage } from '../../client/errors.js'

/** Characters of a provider's words for people, and for programs. */
const [maxQuoteChars, maxWordsChars] = [300, 1500]

/** Cuts a provider's words for programs to one line, without echoes of the conversation that was sent. */
export const toWords = (said: string, getSent: () => string): string =>
  withoutEchoes(onOneLine(said).slice(0, maxWordsChars), getSent)

/** Cuts a provider's words for people, also without what looks like a key; `''` = nothing is left. */
export const quoteWords = (said: string, getSent: () => string): string =>
  cut(toWords(withoutKeyLike(said.slice(0, 2 * maxWordsChars)), getSent), maxQuoteChars).trim()

export const isPage = (body: string): boolean => /^\s*<(?:!|html|head|body)/i.test(body)

/** Fields in which servers say what went wrong, the most telling first. */
const wordFields = [
  'error_description',
  'message',
  'Message',
  'detail',
  'msg',
  'error',
  'errors',
  'reason',
  'title',
  'details',
]

/** Returns a server's words about a failure from JSON of any shape, a web page or a text; `''` = none. */
export function readWords(body: string): string {
  if (isPage(body)) return /<title[^>]*>([^<]*)/i.exec(body)?.[1]?.trim() ?? ''
  return findWords(body.replace(/^data:\s*/, ''))
}

export function findWords(value: unknown, depth = 0): string {
  if (depth > 6) return ''
  if (typeof value === 'string') {
    const json = /^\s*[[{]/.test(value) ? parse(value) : undefined
    return json === undefined ? value.trim() : findWords(json, depth + 1)
  }
  if (Array.isArray(value)) {
    const all = value.slice(0, 3).map((each) => findWords(each, depth + 1))
    return all.filter((text) => text !== '').join('; ')
  }
  if (typeof value !== 'object' || value === null) return ''
  const fields: Readonly<Record<string, unknown>> = { ...value }
  const said = wordFields.map((name) => findWords(fields[name], depth + 1)).find((text) => text !== '') ?? ''
  // Where in the request, as FastAPI says; what another server said, as OpenRouter does.
  const place = Array.isArray(fields.loc) ? `${fields.loc.join('.')}: ` : ''
  const raw = findWords(Object(fields.metadata).raw, depth + 1)
  return `${place}${said}${raw === '' ? '' : `: ${raw}`}`
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Providers report errors within a stream in forms of their own. */
export function readStreamError(error: unknown): string {
  if (error instanceof Error) return findWords(error.message)
  return findWords(error) || (JSON.stringify(error) ?? getErrorMessage(error))
}

/** Redacts texts that look like keys, also partly masked ones. */
const withoutKeyLike = (text: string): string =>
  text
    .replace(/(?<![A-Za-z0-9])[\w-]*?[A-Za-z0-9]{16,}[\w-]*/g, (found) =>
      /\d/.test(found) && /[A-Za-z]/.test(found) ? redacted : found,
    )
    .replace(/[\w-]*\*{3,}[\w-]*/g, redacted)

const redacted = '[redacted:key]'

/** Characters that are an echo, if they were sent. */
const echoChars = 40

/** A text without what it repeats of the conversation that was sent. */
function withoutEchoes(text: string, getSent: () => string): string {
  if (text.length < echoChars) return text
  const sent = onOneLine(getSent())
  let kept = ''
  for (let at = 0; at < text.length; ) {
    let length = 0
    while (
      at + length + echoChars <= text.length &&
      sent.includes(text.slice(at + length, at + length + echoChars))
    )
      length++
    if (length === 0) kept += text[at++]
    else {
      kept += '[…]'
      at += length + echoChars - 1
    }
  }
  return kept
}
