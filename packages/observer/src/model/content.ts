import { printable } from '@meup/folds'
import { diffLines } from 'diff'
import { nameText } from './text.js'

/** A part of arguments or of a result, by how it is shown. */
export type Part = TextPart | DiffPart | JsonPart | TablePart | MediaPart | LinkPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** Name of a language that it is highlighted in, where it is known. */
  readonly language?: string
}

interface DiffPart {
  readonly type: 'diff'
  readonly lines: readonly DiffLine[]
}

export interface DiffLine {
  readonly sign: '+' | '-' | ' ' | '@'
  readonly text: string
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

/** Bytes; only images are shown. */
interface MediaPart {
  readonly type: 'media'
  readonly mimeType: string
  /** Base64. */
  readonly data: string
}

interface LinkPart {
  readonly type: 'link'
  readonly name: string
  readonly uri: string
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a JSON-RPC response brought. `args`: of the request, whose file names its language. */
export function resultParts({ result, error }: Fields, args: unknown): readonly Part[] {
  if (error !== undefined && error !== null) return errorParts(error)
  if (!isFields(result)) return result === undefined ? [] : [valuePart(result)]
  const { content, structuredContent, isError: _, _meta, ...rest } = result
  const language = languageOf(getPath(args))
  const blocks = Array.isArray(content) ? content.filter(isFields) : []
  const structured = structuredContent === undefined ? [] : [valuePart(structuredContent)]
  const repeated = JSON.stringify(structuredContent)
  const parts = blocks
    .filter(({ text }) => structured.length === 0 || !isSameJson(text, repeated))
    .map((block) => blockPart(block, language))
  const others = Object.keys(rest).length === 0 ? [] : [valuePart(rest)]
  return [...parts, ...structured, ...others]
}

function errorParts(error: unknown): readonly Part[] {
  if (!isFields(error) || typeof error.message !== 'string') return [valuePart(error)]
  const { message, data } = error
  return [textPart(message), ...(data === undefined ? [] : [valuePart(data)])]
}

function isSameJson(text: unknown, json: string | undefined): boolean {
  if (typeof text !== 'string') return false
  const value = readJson(text)
  return value !== undefined && JSON.stringify(value) === json
}

function blockPart(block: Fields, language: string | undefined): Part {
  const { type, text, resource, data, mimeType, uri, name } = block
  if (typeof text === 'string') return textPart(text, language)
  if (isFields(resource)) return resourcePart(resource)
  if (typeof data === 'string' && typeof mimeType === 'string') return { type: 'media', mimeType, data }
  if (type === 'resource_link' && typeof uri === 'string') {
    return { type: 'link', uri: printable(uri), name: typeof name === 'string' ? printable(name) : '' }
  }
  return valuePart(block)
}

function resourcePart(resource: Fields): Part {
  const { text, blob, mimeType = 'application/octet-stream', uri } = resource
  if (typeof text === 'string') return textPart(text, languageOf(typeof uri === 'string' ? uri : undefined))
  if (typeof blob === 'string') return { type: 'media', mimeType: String(mimeType), data: blob }
  return valuePart(resource)
}

/** Characters of a text that is read as JSON or as a diff. */
const maxReadChars = 200_000

/** A text as what it is: JSON, a table, a diff, or text. */
export function textPart(text: string, language?: string): Part {
  if (text.length <= maxReadChars) {
    const value = readJson(text)
    if (value !== undefined) return valuePart(value)
    if (isDiff.test(text)) return { type: 'diff', lines: readDiff(text) }
  }
  return { type: 'text', text: printable(text), ...(language !== undefined && { language }) }
}

/** Only objects and lists: a number or a quoted text is a text all the same. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isDiff = /^(?:diff --git |--- .*\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+)/m

const readDiff = (text: string): DiffLine[] =>
  printable(text)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      if (/^(?:diff --git|index |--- |\+\+\+ |@@ )/.test(line)) return { sign: '@', text: line }
      const sign = line.charAt(0)
      return sign === '+' || sign === '-' ? { sign, text: line.slice(1) } : { sign: ' ', text: line.slice(1) }
    })

const maxTable = { rows: 200, columns: 12 }

/** A list of flat objects with the same few fields is a table. */
export function valuePart(value: unknown): Part {
  const rows = Array.isArray(value) && value.length > 1 && value.length <= maxTable.rows ? value : []
  const columns = isFields(rows[0]) ? Object.keys(rows[0]) : []
  const isTable =
    columns.length > 0 &&
    columns.length <= maxTable.columns &&
    rows.every((row) => isFields(row) && isFlat(row) && Object.keys(row).join() === columns.join())
  if (!isTable) return { type: 'json', value }
  return {
    type: 'table',
    columns: columns.map(printable),
    rows: rows.map((row: Fields) => columns.map((name) => printable(String(row[name] ?? '')))),
  }
}

const isFlat = (row: Fields): boolean =>
  Object.values(row).every((each) => typeof each !== 'object' || each === null)

/** What a call would change, or has changed. */
export interface Change {
  /** `edit report.txt, 2 lines` */
  readonly sentence: string
  readonly lines: readonly DiffLine[]
  /** Whether that is all that the arguments say: no other field, and nothing invisible. */
  readonly isAll: boolean
}

/** A change, and the fields of the arguments that it shows. */
interface Found {
  readonly sentence: string
  readonly lines: readonly DiffLine[]
  readonly fields: readonly string[]
}

/** A text of the arguments, and its field. */
interface Field {
  readonly name: string
  readonly text: string
}

const pathFields = ['path', 'file_path', 'filePath', 'filename', 'file', 'uri', 'source'] as const
const beforeFields = ['oldText', 'old_string', 'old_str', 'oldString'] as const
const afterFields = ['newText', 'new_string', 'new_str', 'newString'] as const
const wholeFields = ['content', 'contents', 'text', 'file_text'] as const
const patchFields = ['patch', 'diff'] as const
const targetFields = ['destination', 'target', 'to'] as const

function findText(fields: Fields, names: readonly string[]): Field | undefined {
  const name = names.find((each) => typeof fields[each] === 'string')
  return name === undefined ? undefined : { name, text: String(fields[name]) }
}

/** The file that arguments are about. */
const getPath = (args: unknown): string | undefined =>
  isFields(args) ? findText(args, pathFields)?.text : undefined

/** What a call changes, where its arguments are those that tools for files have. */
export function describeChange(tool: string, args: unknown): Change | undefined {
  if (!isFields(args)) return undefined
  const path = findText(args, pathFields)
  const found = path && findChange(verbOf(tool), nameText(path.text), args)
  if (path === undefined || found === undefined) return undefined
  const { sentence, lines, fields } = found
  const shown: ReadonlySet<string> = new Set([path.name, ...fields])
  const json = JSON.stringify(args)
  const isSeen = printable(json) === json && !invisible.test(json)
  return { sentence, lines, isAll: isSeen && Object.keys(args).every((name) => shown.has(name)) }
}

/** As JSON writes what cannot be seen. */
const invisible = /\\[bfru]/

function findChange(verb: string, name: string, args: Fields): Found | undefined {
  const edits = readEdits(args)
  if (edits !== undefined) return describeLines(verb, name, joinDiffs(edits.diffs), edits.fields)
  const patch = findText(args, patchFields)
  if (patch !== undefined && isDiff.test(patch.text))
    return describeLines(verb, name, readDiff(patch.text), [patch.name])
  const whole = findText(args, wholeFields)
  if (whole !== undefined) return describeLines(verb, name, compareLines('', whole.text), [whole.name])
  if (/^(?:delete|remove)$/.test(verb)) return { sentence: `${verb} ${name}`, lines: [], fields: [] }
  const target = findText(args, targetFields)
  if (target === undefined) return undefined
  return { sentence: `${verb} ${name} to ${nameText(target.text)}`, lines: [], fields: [target.name] }
}

/** Replaced texts, where every edit is one and nothing else. */
function readEdits(args: Fields): { readonly diffs: DiffLine[][]; readonly fields: string[] } | undefined {
  const isList = Array.isArray(args.edits)
  const edits: readonly unknown[] = Array.isArray(args.edits) ? args.edits : [args]
  const diffs: DiffLine[][] = []
  const fields: string[] = isList ? ['edits'] : []
  for (const edit of edits) {
    const [before, after] = isFields(edit)
      ? [findText(edit, beforeFields), findText(edit, afterFields)]
      : [undefined, undefined]
    if (!isFields(edit) || before === undefined || after === undefined) return undefined
    if (isList && Object.keys(edit).length > 2) return undefined
    diffs.push(compareLines(before.text, after.text))
    if (!isList) fields.push(before.name, after.name)
  }
  return diffs.length === 0 ? undefined : { diffs, fields }
}

function describeLines(
  verb: string,
  name: string,
  lines: readonly DiffLine[],
  fields: readonly string[],
): Found {
  const count = (sign: DiffLine['sign']): number => lines.filter((line) => line.sign === sign).length
  const changed = Math.max(count('+'), count('-'))
  return { sentence: `${verb} ${name}, ${changed} ${changed === 1 ? 'line' : 'lines'}`, lines, fields }
}

/** `edit` of `edit_file`; `edit_and_push` as it is. */
const verbOf = (tool: string): string =>
  /^(edit|write|create|delete|remove|move|rename|append)(?:[_-]?(?:text[_-]?)?(?:files?|text|director(?:y|ies)|folder))?$/i
    .exec(tool)?.[1]
    ?.toLowerCase() ?? nameText(tool)

const joinDiffs = (diffs: readonly (readonly DiffLine[])[]): DiffLine[] =>
  diffs.flatMap((lines, at) => (at === 0 ? lines : [{ sign: '@' as const, text: '…' }, ...lines]))

/** Milliseconds that a comparison may take; then all of it is shown as taken out and put in. */
const compareMs = 100
/** Lines around a change that are shown. */
const aroundLines = 3

export function compareLines(before: string, after: string): DiffLine[] {
  const [old, now] = [printable(before), printable(after)]
  const changes = diffLines(old, now, { timeout: compareMs }) ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ]
  const lines = changes.flatMap(({ value, added, removed }): DiffLine[] => {
    const sign = added ? '+' : removed ? '-' : ' '
    const texts = value.replace(/\n$/, '').split('\n')
    return value === '' ? [] : texts.map((text) => ({ sign, text }))
  })
  return withoutFarLines(lines)
}

/** Long stretches without a change are left out. */
function withoutFarLines(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map(() => false)
  for (const [at, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    isNear.fill(true, Math.max(0, at - aroundLines), at + aroundLines + 1)
  }
  return lines.flatMap((line, at) => {
    if (isNear[at]) return [line]
    return at === 0 || isNear[at - 1] ? [{ sign: '@' as const, text: '…' }] : []
  })
}

const languages: Readonly<Record<string, string>> = {
  ...{ ts: 'typescript', tsx: 'typescript', js: 'javascript', mjs: 'javascript', jsx: 'javascript' },
  ...{ py: 'python', rs: 'rust', go: 'go', java: 'java', rb: 'ruby', sh: 'bash', sql: 'sql', css: 'css' },
  ...{ yaml: 'yaml', yml: 'yaml', html: 'xml', xml: 'xml', md: 'markdown', c: 'c', h: 'c', cpp: 'cpp' },
}

const languageOf = (path: string | undefined): string | undefined =>
  languages[/\.(\w{1,5})$/.exec(path ?? '')?.[1]?.toLowerCase() ?? '']
