import { cut, head, onOneLine } from '@meup/folds'
import { getNumberText, stringifyExact } from '@meup/protocol'
import { frameResult } from '../agent/frame-message.js'
import { parsePart, type ResultPart, type ToolResult } from '../client/tool-result.js'

/** A file for a model, as base64. */
interface Media {
  readonly mediaType: string
  readonly data: string
}

/**
 * A result for a model. The text mentions each file at its place; files that the model accepts are attached in the same order.
 */
export interface ShownResult {
  readonly text: string
  readonly media: readonly Media[]
}

export interface ShowOptions {
  /** Maximum characters of the text. */
  readonly maxChars: number
  /** Whether the model accepts files of this type in tool results. */
  takes(mediaType: string): boolean
}

/** Maximum files attached to a result. */
const maxMedia = 20
/** Maximum characters of a name, and of a URI, in a result. */
const [maxNameChars, maxUriChars] = [200, 2048]

/** Formats a result for a model. Content that the model cannot read is replaced by a line with its type and envelope id. */
export function showResult(result: ToolResult, { maxChars, takes }: ShowOptions): ShownResult {
  const { id, text, content, data, approvedBy } = result
  const media: Media[] = []
  const leaveOut = (what: string, why = 'not shown to this model') => `[${what}: ${why}; see envelope ${id}]`
  const showFile = (what: string, bytes: string): string => {
    if (!isBase64(bytes)) return leaveOut(what, 'not shown, it is not base64')
    const named = `${what}, ${formatBytes(countBytes(bytes))}`
    const mediaType = sniffMediaType(bytes)
    if (mediaType === undefined || !takes(mediaType)) return leaveOut(named)
    if (media.length === maxMedia) return leaveOut(named, `not shown, ${maxMedia} others are`)
    media.push({ mediaType, data: bytes })
    return `[${named}: follows]`
  }
  const showPart = (part: ResultPart): string => {
    switch (part.type) {
      case 'text':
        return part.text
      case 'image':
      case 'audio':
        return showFile(`${part.type} ${name(part.mimeType)}`, part.data)
      case 'resource': {
        const { uri, mimeType, text, blob } = part.resource
        const what = ['resource', cut(onOneLine(uri), maxUriChars), name(mimeType)].filter(Boolean).join(' ')
        return text === undefined ? showFile(what, blob) : `[${what}]\n${text}`
      }
      case 'link':
        return describeLink(part)
    }
  }
  const lines = content.map((block) => {
    const part = parsePart(block)
    if (part !== undefined) return showPart(part)
    return typeof block.text === 'string'
      ? block.text
      : leaveOut(name(block.type) || 'a block without a type')
  })
  if (data !== undefined && !tells(text, data))
    lines[text === '' ? 'unshift' : 'push'](String(stringifyExact(data)))
  const given = lines.filter((line) => line !== '').join('\n')
  const shown = given === '' ? 'Done; the tool gave back nothing.' : frameResult(cutMiddle(given, maxChars))
  const leave = approvedBy === undefined ? '' : `Approved by ${approvedBy}.\n`
  return { text: `${leave}${shown}`, media }
}

/**
 * Maximum values of the structured content that are searched in a result's text; if there are more, only lengths are compared.
 */
const maxValues = 1000

/** Whether a text contains all values of the structured content, in any form, so that it need not be added. */
function tells(text: string, data: unknown): boolean {
  if (text === '') return false
  const values: string[] = []
  const collect = (value: unknown): void => {
    if (values.length > maxValues) return
    if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) collect(getNumberText(value, key) ?? each)
    else if (value !== null && value !== undefined) values.push(String(value))
  }
  collect(data)
  if (values.length === 0) return isEmpty(data)
  if (values.length > maxValues) return text.length >= JSON.stringify(data).length
  const words = new Set(text.split(notOfWord))
  const has = (value: string): boolean => (notOfWord.test(value) ? text.includes(value) : words.has(value))
  // A text may also contain the value as JSON, with escaped line breaks and quotes.
  return values.every((value) => has(value) || has(JSON.stringify(value).slice(1, -1)))
}

/** Matches the characters between words, so that 5 is not found in 2025. */
const notOfWord = /[^\p{L}\p{N}]+/u
const isEmpty = (data: unknown): boolean => Object.keys(Object(data)).length === 0

function describeLink(link: Extract<ResultPart, { type: 'link' }>): string {
  const { uri, mimeType, size, description } = link
  const about = [name(mimeType), typeof size === 'number' ? formatBytes(size) : '', name(description)]
  const what = [`${name(link.name)} ${cut(onOneLine(uri), maxUriChars)}`.trim(), ...about].filter(Boolean)
  return `[link ${what.join(', ')}]`
}

/** Shortens a name from a tool result; empty if it is not a string. */
const name = (value: unknown): string =>
  typeof value === 'string' ? cut(onOneLine(value), maxNameChars) : ''

/** Cuts the middle of a long text, and inserts the number of omitted characters. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  const beginning = head(text, Math.ceil(maxChars / 2))
  const end = text.slice(text.length - Math.floor(maxChars / 2)).replace(/^[\uDC00-\uDFFF]/, '')
  const left = text.length - beginning.length - end.length
  return `${beginning}\n[… ${left.toLocaleString('en-US')} characters left out …]\n${end}`
}

const isBase64 = (data: string): boolean => data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data)
const countBytes = (base64: string): number => (base64.length / 4) * 3 - (/=*$/.exec(base64)?.[0].length ?? 0)

function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < 1024 ** 2 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}

/**
 * The beginnings of files in base64, by media type. Declared types are not trusted: providers refuse the whole request if one
 * is wrong.
 */
const signatures: readonly (readonly [string, RegExp])[] = [
  ['image/png', /^iVBORw0KGgo/],
  ['image/jpeg', /^\/9j\//],
  ['image/gif', /^R0lGOD/],
  ['image/webp', /^UklG.{8}RUJQ/],
  ['application/pdf', /^JVBERi0/],
]

const sniffMediaType = (base64: string): string | undefined =>
  signatures.find(([, beginning]) => beginning.test(base64))?.[0]
