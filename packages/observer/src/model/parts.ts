import { isObject, printable } from '@meup/folds'
import { parseExact, stringifyExact } from '@meup/protocol'
import { type DiffLine, getPath, isDiff, readDiff, readDiffs } from './change.js'
import { getLanguage } from './highlight-language.js'

/** A part of a call's arguments or result, by how it is displayed. */
export type Part = TextPart | DiffPart | JsonPart | TablePart | MediaPart | LinkPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** Language for highlighting, if known. */
  readonly language?: string
}

interface DiffPart {
  readonly type: 'diff'
  readonly lines: readonly DiffLine[]
  /** Path of the changed file; absent if the lines name it. */
  readonly path?: string
}

interface JsonPart {
  readonly type: 'json'
  readonly value: unknown
}

interface TablePart {
  readonly type: 'table'
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Binary data. Only images are displayed. */
interface MediaPart {
  readonly type: 'media'
  readonly mimeType: string
  /** The data as base64. */
  readonly data: string
}

interface LinkPart {
  readonly type: 'link'
  readonly name: string
  readonly uri: string
}

type Fields = Readonly<Record<string, unknown>>

/** The parts of a JSON-RPC response. `args`: arguments of the request, whose file name determines the language. */
export function resultParts({ result, error }: Fields, args: unknown): readonly Part[] {
  if (error !== undefined && error !== null) return errorParts(error)
  if (!isObject(result)) return result === undefined ? [] : [valuePart(result)]
  const { content, structuredContent, isError: _, _meta, ...rest } = result
  const language = getLanguage(getPath(args))
  const list = content === undefined ? [] : Array.isArray(content) ? content : [content]
  const blocks = list.filter(isObject)
  const { changed, structured: value } = splitChanges(structuredContent)
  const isNew = value !== undefined && !isWrapped(value, blocks)
  const structured = isNew ? [valuePart(value)] : []
  const repeated = stringifyExact(value)
  const parts = blocks
    .filter(({ text }) => structured.length === 0 || !isSameJson(text, repeated))
    .map((block) => blockPart(block, language))
  const others = Object.keys(rest).length === 0 ? [] : [valuePart(rest)]
  const loose = list.filter((each) => !isObject(each)).map((each) => valuePart(each))
  return [...parts, ...loose, ...changed, ...structured, ...others]
}

/** Separates file diffs, as coding agents report them, from the rest of a structured result. */
function splitChanges(structured: unknown): { changed: readonly Part[]; structured: unknown } {
  const lines = isObject(structured) ? readDiffs(structured.diffs) : undefined
  if (lines === undefined) return { changed: [], structured }
  const { diffs: _, ...rest } = structured as Fields
  return { changed: [{ type: 'diff', lines }], structured: rest }
}

/** Whether the structured content only repeats the text, as the value of a single field. */
function isWrapped(structured: unknown, [block, ...others]: readonly Fields[]): boolean {
  if (!isObject(structured) || block === undefined || others.length > 0) return false
  const [value, ...more] = Object.values(structured)
  return more.length === 0 && typeof value === 'string' && value === block.text
}

function errorParts(error: unknown): readonly Part[] {
  if (!isObject(error) || typeof error.message !== 'string') return [valuePart(error)]
  const { message, data } = error
  return [textPart(message), ...(data === undefined ? [] : [valuePart(data)])]
}

function isSameJson(text: unknown, json: string | undefined): boolean {
  if (typeof text !== 'string') return false
  const value = readJson(text)
  return value !== undefined && stringifyExact(value) === json
}

function blockPart(block: Fields, language: string | undefined): Part {
  const { type, text, resource, data, mimeType, uri, name } = block
  if (typeof text === 'string') return textPart(text, language)
  if (isObject(resource)) return resourcePart(resource)
  if (typeof data === 'string' && typeof mimeType === 'string') return { type: 'media', mimeType, data }
  if (type === 'resource_link' && typeof uri === 'string') {
    return { type: 'link', uri: printable(uri), name: typeof name === 'string' ? printable(name) : '' }
  }
  return valuePart(block)
}

function resourcePart(resource: Fields): Part {
  const { text, blob, mimeType = 'application/octet-stream', uri } = resource
  if (typeof text === 'string') return textPart(text, getLanguage(typeof uri === 'string' ? uri : undefined))
  if (typeof blob === 'string') return { type: 'media', mimeType: String(mimeType), data: blob }
  return valuePart(resource)
}

/** Maximum characters of a text that is parsed as JSON or as a diff. */
const maxReadChars = 200_000

/** Recognizes a text as JSON, a table, a diff, or plain text. */
export function textPart(text: string, language?: string): Part {
  if (text.length <= maxReadChars) {
    const value = readJson(text)
    if (value !== undefined) return valuePart(value)
    if (isDiff.test(text)) return { type: 'diff', lines: readDiff(text) }
  }
  return { type: 'text', text: printable(text), ...(language !== undefined && { language }) }
}

/** Parses JSON objects and lists; `undefined` for anything else, such as numbers and quoted texts. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

const maxTable = { rows: 200, columns: 12 }

/** Displays a list of flat objects with the same few fields as a table, other values as JSON. */
export function valuePart(value: unknown): Part {
  const rows = Array.isArray(value) && value.length > 1 && value.length <= maxTable.rows ? value : []
  const columns = isObject(rows[0]) ? Object.keys(rows[0]) : []
  const isTable =
    columns.length > 0 &&
    columns.length <= maxTable.columns &&
    rows.every((row) => isObject(row) && isFlat(row) && Object.keys(row).join() === columns.join())
  if (!isTable) return { type: 'json', value }
  return {
    type: 'table',
    columns: columns.map(printable),
    rows: rows.map((row: Fields) => columns.map((name) => printable(String(row[name] ?? '')))),
  }
}

const isFlat = (row: Fields): boolean =>
  Object.values(row).every((each) => typeof each !== 'object' || each === null)
