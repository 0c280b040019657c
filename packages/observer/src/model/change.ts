import { hasUnseen, isObject, printable } from '@meup/folds'
import { diffLines } from 'diff'
import { countText, nameText } from './text.js'

export interface DiffLine {
  readonly sign: '+' | '-' | ' ' | '@'
  readonly text: string
  /** Line number in the file, from 1; for a removed line, in the old file. Absent if the position is unknown. */
  readonly line?: number
}

type Fields = Readonly<Record<string, unknown>>

export const isDiff = /^(?:diff --git |--- .*\n\+\+\+ |@@ -\d+(?:,\d+)? \+\d+)/
const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Numbers consecutive lines of a diff, starting at these old and new line numbers. */
function createCounter(old: number, now: number): (line: DiffLine) => DiffLine {
  let [before, after] = [old, now]
  return (line) => {
    if (line.sign === '@') return line
    if (line.sign === '-') return { ...line, line: before++ }
    if (line.sign === ' ') before++
    return { ...line, line: after++ }
  }
}

/** Parses a unified diff. Lines beyond the counts of their hunk are not changes; they are shown as they are. */
export function readDiff(text: string): DiffLine[] {
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

/** A change that a call would make, or has made. */
export interface Change {
  /** Example: `edit report.txt, 2 lines` */
  readonly sentence: string
  /** Verb, such as `edit`; `name`: the file's name, such as `report.txt`. */
  readonly verb: string
  readonly name: string
  readonly lines: readonly DiffLine[]
  /** Whether the change shows the complete request: no other fields, nothing truncated or invisible. */
  readonly isAll: boolean
}

/** A change, with the names of argument fields that it shows completely. */
interface Found extends Pick<Change, 'sentence' | 'verb' | 'name' | 'lines'> {
  readonly fields: readonly string[]
}

/** Argument fields of file tools, by purpose. */
const fieldNames = {
  path: ['path', 'file_path', 'filePath', 'filename', 'file', 'uri', 'source'],
  before: ['oldText', 'old_string', 'old_str', 'oldString'],
  after: ['newText', 'new_string', 'new_str', 'newString'],
  whole: ['content', 'contents', 'text', 'file_text'],
  patch: ['patch', 'diff'],
  target: ['destination', 'target', 'to'],
} as const
type FieldUse = keyof typeof fieldNames

/**
 * Finds the field for each purpose; `undefined` if two fields have the same purpose, because it is unclear which one the tool
 * uses.
 */
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

/** The file path in a call's arguments. */
export const getPath = (args: unknown): string | undefined =>
  isObject(args) ? readFields(args)?.path?.[1] : undefined

const changes = new WeakMap<object, Change | undefined>()

/**
 * Describes the change that a call makes, if it has the arguments of a known file tool. `payload`: of a request or proposal.
 */
export function describeChange(payload: Fields): Change | undefined {
  if (!changes.has(payload)) changes.set(payload, readChange(payload))
  return changes.get(payload)
}

/** Kinds of calls in ACP. */
const callKinds: ReadonlySet<unknown> = new Set(
  'read edit delete move search execute think fetch switch_mode other'.split(' '),
)

/** Whether `params` have no fields beyond name, arguments and kind. */
export function saysNothing({ _meta, ...others }: Fields): boolean {
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
  // A patch may name other files than `path`, so it does not replace the JSON.
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

/** Whether the diff deletes its file. */
const isDeletion = ({ deleted, newText }: Fields): boolean => deleted === true && newText === ''

/** Diffs of files as ACP agents report them, each under its path; `undefined` if the value is something else. */
export function readDiffs(diffs: unknown): DiffLine[] | undefined {
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

/** Removes the line number: the position of a replaced text in its file is unknown. */
const withoutNumber = (line: DiffLine): DiffLine =>
  line === elision ? line : { sign: line.sign, text: line.text }

/** Replacements, if each edit consists of an old and a new text only. */
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

/** Verb from a tool's name: `edit` for `edit_file`, but `edit_and_push` unchanged. */
const verbOf = (tool: string): string =>
  /^(edit|write|create|delete|remove|move|rename|append)(?:[_-]?(?:text[_-]?)?(?:files?|text|director(?:y|ies)|folder))?$/i
    .exec(tool)?.[1]
    ?.toLowerCase() ?? nameText(tool)

const joinDiffs = (diffs: readonly (readonly DiffLine[])[]): DiffLine[] =>
  diffs.flatMap((lines, at) => (at === 0 ? lines : [{ sign: '@' as const, text: '⋮' }, ...lines]))

/** Time limit of all comparisons together; after it, texts are shown as removed and added. */
const compareMs = 100

/** Compares texts line by line within a shared time limit. */
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

/** Placeholder for omitted unchanged lines. */
const elision: DiffLine = { sign: '@', text: '…' }

const isElided = (lines: readonly DiffLine[]): boolean => lines.includes(elision)

/** Number of context lines around a change. */
const aroundLines = 3

/** Omits unchanged lines far from any change. */
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
