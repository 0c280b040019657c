import { hasUnseen, isObject, onOneLine, printable } from '@meup/folds'
import { parseExact, stringifyExact } from '@meup/protocol'
import { diffLines } from 'diff'
import { countText, nameText } from './text.js'

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
  /** Its number in its file, from 1: of what is taken out, in the file as it was. Absent where the place in the file is not known. */
  readonly line?: number
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

/** What a JSON-RPC response brought. `args`: of the request, whose file names its language. */
export function resultParts({ result, error }: Fields, args: unknown): readonly Part[] {
  if (error !== undefined && error !== null) return errorParts(error)
  if (!isObject(result)) return result === undefined ? [] : [valuePart(result)]
  const { content, structuredContent, isError: _, _meta, ...rest } = result
  const language = languageOf(getPath(args))
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

/** What coding agents tell of the files that they changed, and the rest. */
function splitChanges(structured: unknown): { changed: readonly Part[]; structured: unknown } {
  const lines = isObject(structured) ? readDiffs(structured.diffs) : undefined
  if (lines === undefined) return { changed: [], structured }
  const { diffs: _, ...rest } = structured as Fields
  return { changed: [{ type: 'diff', lines }], structured: rest }
}

/** Whether it is the one text of a result in a field, as servers do that were not asked for structured content. */
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
    return parseExact(text)
  } catch {
    return undefined
  }
}

const isDiff = /^(?:diff --git |--- .*\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+)/
const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Numbers the lines of a diff one after the other, from these on. */
function createCounter(old: number, now: number): (line: DiffLine) => DiffLine {
  let [before, after] = [old, now]
  return (line) => {
    if (line.sign === '@') return line
    if (line.sign === '-') return { ...line, line: before++ }
    if (line.sign === ' ') before++
    return { ...line, line: after++ }
  }
}

/** The lines of a unified diff. Only what its hunks count are changes: everything else stays as it is written. */
function readDiff(text: string): DiffLine[] {
  let [old, now] = [0, 0]
  let next = createCounter(1, 1)
  return printable(text)
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      const [isHunk, oldStart, before = '1', start, after = '1'] = hunk.exec(line) ?? []
      const sign = line.charAt(0)
      if (isHunk !== undefined) {
        ;[old, now] = [Number(before), Number(after)]
        next = createCounter(Number(oldStart), Number(start))
      } else if (sign === '+' && now > 0) now--
      else if (sign === '-' && old > 0) old--
      else if (sign === ' ' && old > 0 && now > 0) [old, now] = [old - 1, now - 1]
      else return { sign: '@', text: line }
      return isHunk === undefined
        ? next({ sign: sign as DiffLine['sign'], text: line.slice(1) })
        : { sign: '@', text: line }
    })
}

const maxTable = { rows: 200, columns: 12 }

/** A list of flat objects with the same few fields is a table. */
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

/** What a call would change, or has changed. */
export interface Change {
  /** `edit report.txt, 2 lines` */
  readonly sentence: string
  /** `edit`, and `report.txt` */
  readonly verb: string
  readonly name: string
  readonly lines: readonly DiffLine[]
  /** Whether that is all that is asked: no other field, nothing shortened, and nothing that is not seen. */
  readonly isAll: boolean
}

/** A change, and the fields of the arguments that it shows whole. */
interface Found extends Pick<Change, 'sentence' | 'verb' | 'name' | 'lines'> {
  readonly fields: readonly string[]
}

/** Fields that tools for files have, by what they are for. */
const fieldNames = {
  path: ['path', 'file_path', 'filePath', 'filename', 'file', 'uri', 'source'],
  before: ['oldText', 'old_string', 'old_str', 'oldString'],
  after: ['newText', 'new_string', 'new_str', 'newString'],
  whole: ['content', 'contents', 'text', 'file_text'],
  patch: ['patch', 'diff'],
  target: ['destination', 'target', 'to'],
} as const
type FieldUse = keyof typeof fieldNames

/** Field and text of each use; `undefined` where one use has two fields, since nobody knows which of them counts. */
function readFields(
  args: Fields,
): Partial<Record<FieldUse, readonly [name: string, text: string]>> | undefined {
  const read: Partial<Record<FieldUse, readonly [string, string]>> = {}
  for (const [use, names] of Object.entries(fieldNames) as [FieldUse, readonly string[]][]) {
    const [name, ...others] = names.filter((each) => args[each] !== undefined)
    if (others.length > 0) return undefined
    const text = name === undefined ? undefined : args[name]
    if (name !== undefined && typeof text === 'string') read[use] = [name, text]
  }
  return read
}

/** The file that arguments are about. */
export const getPath = (args: unknown): string | undefined =>
  isObject(args) ? readFields(args)?.path?.[1] : undefined

const changes = new WeakMap<object, Change | undefined>()

/** What a call changes, where its arguments are those that tools for files have. `payload`: of a request or proposal. */
export function describeChange(payload: Fields): Change | undefined {
  if (!changes.has(payload)) changes.set(payload, readChange(payload))
  return changes.get(payload)
}

/** Kinds of calls, as coding agents name them beside what is called. */
const callKinds: ReadonlySet<unknown> = new Set(
  'read edit delete move search execute think fetch switch_mode other'.split(' '),
)

/** Whether nothing of this is to be seen: a call has no more than its kind beside its name and its arguments. */
function saysNothing({ _meta, ...others }: Fields): boolean {
  if (Object.keys(others).length > 0) return false
  return (
    _meta === undefined ||
    (isObject(_meta) && Object.keys(_meta).join() === 'kind' && callKinds.has(_meta.kind))
  )
}

function readChange({ params }: Fields): Change | undefined {
  if (!isObject(params)) return undefined
  const { name: tool, arguments: args, ...others } = params
  if (typeof tool !== 'string' || !isObject(args)) return undefined
  const whole = readDiffs(args.diffs)
  if (whole !== undefined) {
    const files = args.diffs as readonly Fields[]
    const [file, ...more] = files.map(({ path }) => nameText(String(path)))
    const name = more.length === 0 ? (file ?? '') : countText(files.length, 'file')
    const verb = files.every(isDeletion) ? 'delete' : verbOf(tool)
    const { fields: _, ...found } = describeLines(verb, name, whole, [])
    const hasOnly = saysNothing(others) && Object.keys(args).length === 1
    const arePlain = files.every((each) => Object.keys(each).every((field) => diffFields.has(field)))
    return { ...found, isAll: hasOnly && arePlain && !isElided(found.lines) && !hasUnseen(args) }
  }
  const fields = readFields(args)
  const path = fields?.path
  if (fields === undefined || path === undefined) return undefined
  const found = findChange(verbOf(tool), nameText(path[1]), args, fields)
  if (found === undefined) return undefined
  const shown: ReadonlySet<string> = new Set([path[0], ...found.fields])
  const isAll =
    saysNothing(others) &&
    Object.keys(args).every((name) => shown.has(name)) &&
    [tool, path[1], fields.target?.[1] ?? ''].every((text) => nameText(text) === text) &&
    !isElided(found.lines) &&
    !hasUnseen(args)
  const { fields: _, ...change } = found
  return { ...change, isAll }
}

/** Fields of a call that are shown as a list, and characters of each. */
const [maxSettings, maxSettingChars] = [8, 120]

/** Arguments as names and texts. */
export type Settings = readonly (readonly [name: string, text: string])[]

/** Whether a call has more than its name, its arguments and its kind. */
export function hasAsides({ params }: Fields): boolean {
  const { name: _, arguments: __, ...others } = isObject(params) ? params : {}
  return !saysNothing(others)
}

/** The arguments of a call, where names and texts say all of them and say it unmistakably. */
export function readSettings({ params }: Fields): Settings | undefined {
  if (!isObject(params)) return undefined
  const { name, arguments: args } = params
  if (typeof name !== 'string' || !isObject(args)) return undefined
  const settings = Object.entries(args)
  const isPlain = settings.every(
    ([name, value]) =>
      isPlainName(name) && (isPlainValue(value) || (name === 'command' && isPlainCommand(value))),
  )
  if (!isPlain || settings.length === 0 || settings.length > maxSettings) return undefined
  const texts = settings.map(([name, value]): [string, string] => [name, String(value)])
  return texts.sort(([one], [other]) => Number(other === 'command') - Number(one === 'command'))
}

const maxCommandChars = 1000

/** Its prompt tells a command line from a number. What blanks or line breaks may hide shows as JSON. */
const isPlainCommand = (value: unknown): boolean =>
  typeof value === 'string' &&
  value.length <= maxCommandChars &&
  value.trim() === value &&
  value !== '' &&
  onOneLine(value) === value &&
  !hasUnseen(value)

const isPlainName = (name: string): boolean => /^[\w-]{1,40}$/.test(name)

/** Whether it is a number, or a text that cannot be taken for one, nor for anything else. */
function isPlainValue(value: unknown): boolean {
  // Other numbers may not be what was sent: they are read as what a double can hold.
  if (typeof value !== 'string') return Number.isSafeInteger(value) || typeof value === 'boolean'
  const isOther = /^(?:[-+.\d].*|true|false|null|undefined)?$/i.test(value)
  return (
    !isOther &&
    value.length <= maxSettingChars &&
    value.trim() === value &&
    nameText(value) === value &&
    !hasUnseen(value)
  )
}

function findChange(
  verb: string,
  name: string,
  args: Fields,
  { before, after, whole, patch, target }: NonNullable<ReturnType<typeof readFields>>,
): Found | undefined {
  const ways = [args.edits, before ?? after, whole, patch, target].filter((way) => way !== undefined)
  if (ways.length > 1) return undefined
  const compare = createComparison()
  if (args.edits !== undefined) {
    const diffs = readEdits(args.edits, compare)
    return diffs && describeLines(verb, name, joinDiffs(diffs), ['edits'])
  }
  if (before !== undefined && after !== undefined)
    return describeLines(verb, name, compare(before[1], after[1]).map(withoutNumber), [before[0], after[0]])
  // A patch may name other files: it is shown beside what is sent.
  if (patch !== undefined)
    return isDiff.test(patch[1]) ? describeLines(verb, name, readDiff(patch[1]), []) : undefined
  if (whole !== undefined) {
    if (whole[1] === '')
      return { ...{ sentence: `${verb} ${name}, empty`, verb, name, lines: [] }, fields: [whole[0]] }
    return describeLines(verb, name, compare('', whole[1]), [whole[0]])
  }
  if (target !== undefined)
    return {
      ...{ sentence: `${verb} ${name} to ${nameText(target[1])}`, verb, name, lines: [] },
      fields: [target[0]],
    }
  const isRemoved = /^(?:delete|remove)$/.test(verb)
  return isRemoved ? { sentence: `${verb} ${name}`, verb, name, lines: [], fields: [] } : undefined
}

const diffFields: ReadonlySet<string> = new Set(['path', 'oldText', 'newText', 'deleted'])

/** Whether there is no file any more. */
const isDeletion = ({ deleted, newText }: Fields): boolean => deleted === true && newText === ''

/** Files as they were and as they are, each below its path; `undefined`: these are no such diffs. */
function readDiffs(diffs: unknown): DiffLine[] | undefined {
  if (!Array.isArray(diffs) || diffs.length === 0) return undefined
  const compare = createComparison()
  const files = diffs.map((diff): DiffLine[] | undefined => {
    const { path, oldText = '', newText, deleted } = isObject(diff) ? diff : {}
    if (deleted !== undefined && !isDeletion({ deleted, newText })) return undefined
    if (typeof path !== 'string' || typeof oldText !== 'string' || typeof newText !== 'string')
      return undefined
    const head = deleted === undefined ? printable(path) : `${printable(path)} (deleted)`
    return [{ sign: '@', text: head }, ...compare(oldText, newText)]
  })
  return files.every((lines) => lines !== undefined) ? files.flat() : undefined
}

/** Where in its file a replaced text stands is not known. */
const withoutNumber = (line: DiffLine): DiffLine =>
  line === elision ? line : { sign: line.sign, text: line.text }

/** Replaced texts, where every edit is one and nothing else. */
function readEdits(edits: unknown, compare: ReturnType<typeof createComparison>): DiffLine[][] | undefined {
  if (!Array.isArray(edits) || edits.length === 0) return undefined
  const diffs = edits.map((edit) => {
    const { before, after } = (isObject(edit) && readFields(edit)) || {}
    const isOne = before !== undefined && after !== undefined && Object.keys(edit).length === 2
    return isOne ? compare(before[1], after[1]).map(withoutNumber) : undefined
  })
  return diffs.every((diff) => diff !== undefined) ? diffs : undefined
}

function describeLines(
  verb: string,
  name: string,
  lines: readonly DiffLine[],
  fields: readonly string[],
): Found {
  const count = (sign: DiffLine['sign']): number => lines.filter((line) => line.sign === sign).length
  const changed = countText(Math.max(count('+'), count('-')), 'line')
  return { sentence: `${verb} ${name}, ${changed}`, verb, name, lines, fields }
}

/** `edit` of `edit_file`; `edit_and_push` as it is. */
const verbOf = (tool: string): string =>
  /^(edit|write|create|delete|remove|move|rename|append)(?:[_-]?(?:text[_-]?)?(?:files?|text|director(?:y|ies)|folder))?$/i
    .exec(tool)?.[1]
    ?.toLowerCase() ?? nameText(tool)

const joinDiffs = (diffs: readonly (readonly DiffLine[])[]): DiffLine[] =>
  diffs.flatMap((lines, at) => (at === 0 ? lines : [{ sign: '@' as const, text: '⋮' }, ...lines]))

/** Milliseconds that comparisons may take together; then what is left is shown as taken out and put in. */
const compareMs = 100

/** Compares texts line by line, all of them in one time. */
export function createComparison(): (before: string, after: string) => DiffLine[] {
  const end = performance.now() + compareMs
  return (before, after) => compareLines(before, after, Math.max(end - performance.now(), 0))
}

function compareLines(before: string, after: string, timeout: number): DiffLine[] {
  const [old, now] = [printable(before), printable(after)]
  const compared = timeout > 0 ? diffLines(old, now, { timeout }) : undefined
  const parts = compared ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ]
  const lines = parts.flatMap(({ value, added, removed }): DiffLine[] => {
    const sign = added ? '+' : removed ? '-' : ' '
    const texts = value.replace(/\n$/, '').split('\n')
    return value === '' ? [] : texts.map((text) => ({ sign, text }))
  })
  return withoutFarLines(lines.map(createCounter(1, 1)))
}

/** Stands for lines that are left out. */
const elision: DiffLine = { sign: '@', text: '…' }

const isElided = (lines: readonly DiffLine[]): boolean => lines.includes(elision)

/** Lines around a change that are shown. */
const aroundLines = 3

/** Long stretches without a change are left out. */
function withoutFarLines(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map(() => false)
  for (const [at, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    isNear.fill(true, Math.max(0, at - aroundLines), at + aroundLines + 1)
  }
  return lines.flatMap((line, at) => {
    if (isNear[at]) return [line]
    return at === 0 || isNear[at - 1] ? [elision] : []
  })
}

const languages: Readonly<Record<string, string>> = {
  ...{ ts: 'typescript', tsx: 'typescript', js: 'javascript', mjs: 'javascript', jsx: 'javascript' },
  ...{ py: 'python', rs: 'rust', go: 'go', java: 'java', rb: 'ruby', sh: 'bash', sql: 'sql', css: 'css' },
  ...{ yaml: 'yaml', yml: 'yaml', html: 'xml', xml: 'xml', md: 'markdown', c: 'c', h: 'c', cpp: 'cpp' },
}

const languageOf = (path: string | undefined): string | undefined =>
  languages[/\.(\w{1,5})$/.exec(path ?? '')?.[1]?.toLowerCase() ?? '']
