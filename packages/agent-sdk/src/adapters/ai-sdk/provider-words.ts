import { cut, onOneLine } from '@meup/folds'
import { getErrorMessage } from '@meup/protocol'

/** Maximum characters of a provider's message for people, and for programs. */
const [maxQuoteChars, maxWordsChars] = [300, 1500]

/** Shortens a provider's message to one line, for programs, and removes echoes of the sent conversation. */
export const toWords = (said: string, getSent: () => string): string =>
  withoutEchoes(onOneLine(said).slice(0, maxWordsChars), getSent)

/**
 * Shortens a provider's message for people, and removes echoes of the conversation and texts that look like keys; `''` = empty.
 */
export const quoteWords = (said: string, getSent: () => string): string =>
  cut(toWords(withoutKeyLike(said.slice(0, 2 * maxWordsChars)), getSent), maxQuoteChars).trim()

export const isPage = (body: string): boolean => /^\s*<(?:!|html|head|body)/i.test(body)

/** Fields with error messages, most specific first; names are compared without case and separators. */
const wordFields = [
  'errordescription',
  'message',
  'errormessage',
  'errormsg',
  'statusmsg',
  'faultstring',
  'detail',
  'msg',
  'error',
  'err',
  'errors',
  'reason',
  'title',
  'details',
]
/** Fields that may contain `wordFields`. A plain string in them is a model's answer, not an error. */
const outerFields = ['fault', 'baseresp', 'response', 'data']

const plainName = (name: string): string => name.replace(/[^A-Za-z]/g, '').toLowerCase()

/** Elements with the message in HTML pages and XML errors. */
const wordElements = /<(title|message|h1)\b[^>]*>([^<]+)/i

/** Extracts a server's error message from JSON of any shape, a web page or a text; `''` = none. */
export function readWords(body: string): string {
  if (/^\s*</.test(body)) {
    const found = wordElements.exec(body)?.[2]
    return found === undefined && !isPage(body) ? body.trim() : decodeEntities(found ?? '').trim()
  }
  const event = /^data:\s*(.*)$/m.exec(body)?.[1]
  const [line = ''] = body.trimStart().split(/\r?\n/, 1)
  return findWords(event ?? (parse(body) === undefined && parse(line) !== undefined ? line : body))
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}
const decodeEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,6})|(\w{2,5}));/g, (whole, code, name) =>
    code === undefined ? (entities[name] ?? whole) : String.fromCodePoint(Number(code)),
  )

export function findWords(value: unknown, depth = 0): string {
  if (depth > 6) return ''
  if (typeof value === 'string') {
    // If a message ends with the JSON of another server, the error message in that JSON replaces the JSON.
    const [, before = '', after = ''] = /^([^[{"]*)([[{"].*)$/s.exec(value.trim()) ?? []
    const json = parse(after)
    const words = json === undefined ? '' : findWords(json, depth + 1)
    return json === undefined || (words === '' && before !== '') ? value.trim() : `${before}${words}`
  }
  if (Array.isArray(value)) {
    const all = value.slice(0, 3).map((each) => findWords(each, depth + 1))
    return all.filter((text) => text !== '').join('; ')
  }
  if (typeof value !== 'object' || value === null) return ''
  const fields: Readonly<Record<string, unknown>> = { ...value }
  const named = new Map(Object.entries(fields).map(([name, each]) => [plainName(name), each]))
  const outer = outerFields.map((name) => named.get(name)).filter((each) => typeof each === 'object')
  const found = [...wordFields.map((name) => named.get(name)), ...outer].map((each) =>
    findWords(each, depth + 1),
  )
  const { code } = fields
  const hasName = typeof code === 'string' && /[a-z]/i.test(code)
  const said = found.find((text) => text !== '') ?? (hasName ? code : '')
  // FastAPI adds the place in the request (`loc`), OpenRouter the words of the server behind it (`metadata.raw`).
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

/** Reads the message of an error within a stream; providers send these in different formats. */
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

/** Length from which a repeated text counts as an echo. */
const echoChars = 40

/** Removes repetitions of the sent conversation. */
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
