import { cut, getParameters, getToolName, isObject, onOneLine, redact, shortenArguments } from '@meup/folds'
import { describeChange, getPath } from './change.js'
import { countText, nameText, noRedaction } from './text.js'

type Fields = Readonly<Record<string, unknown>>

/** A call in a few words, for known tools of coding agents. */
export interface CallSummary {
  readonly sort: 'edit' | 'run' | 'read' | 'search' | 'other'
  /** Verb such as `Edit`; `undefined` if the tool's name suffices. */
  readonly verb: string | undefined
  /** The file, command or query; `''` if unknown. */
  readonly object: string
  /** Number of added lines; `removed`: number of removed lines. Both are absent if unknown. */
  readonly added?: number
  readonly removed?: number
}

/** Maximum characters of a command or arguments. */
const maxObjectChars = 200

const summaries = new WeakMap<object, CallSummary>()

/** Summarizes the payload of a request or proposal. */
export function summarizeCall(payload: Fields): CallSummary {
  const summary = summaries.get(payload) ?? readCall(payload)
  summaries.set(payload, summary)
  return summary
}

function readCall(payload: Fields): CallSummary {
  const tool = getToolName(payload)
  const args = redact(getParameters(payload), noRedaction).value
  const kind = getKind(payload)
  const change = describeChange(payload)
  if (change !== undefined) {
    const isKnown = change.verb !== nameText(tool)
    const count = (sign: string): number => change.lines.filter((line) => line.sign === sign).length
    return {
      sort: 'edit',
      verb: isKnown || kind === 'edit' ? capitalized(isKnown ? change.verb : 'edit') : undefined,
      object: baseName(change.name),
      ...(change.lines.length > 0 && { added: count('+'), removed: count('-') }),
    }
  }
  const short = shortenArguments(args)
  if (short?.startsWith('$ ')) return { sort: 'run', verb: 'Run', object: onLine(short.slice(2)) }
  const path = getPath(args)
  if (path !== undefined && (kind === 'read' || reading.test(tool)))
    return { sort: 'read', verb: 'Read', object: baseName(nameText(path)) }
  const sought = isObject(args) ? searchFields.map((name) => args[name]).find(isText) : undefined
  if (sought !== undefined && (kind === 'search' || searching.test(tool)))
    return { sort: 'search', verb: 'Search', object: onLine(sought) }
  return { sort: 'other', verb: undefined, object: onLine(listArguments(args)) }
}

/** Maximum number of listed arguments, and characters of each. */
const [maxArguments, maxArgumentChars] = [8, 80]

/** Lists arguments, such as `version 1.4.2, notes […]`; a single one by its value only. */
function listArguments(args: unknown): string {
  if (!isObject(args)) return ''
  const entries = Object.entries(args).slice(0, maxArguments)
  const texts = entries.map(([, value]) => {
    if (typeof value !== 'object' || value === null) return cut(String(value), maxArgumentChars)
    return Array.isArray(value) ? '[…]' : '{…}'
  })
  return entries.length === 1
    ? (texts[0] ?? '')
    : entries.map(([name], at) => `${name} ${texts[at]}`).join(', ')
}

const isText = (value: unknown): value is string => typeof value === 'string'
const onLine = (text: string): string => onOneLine(cut(text, maxObjectChars))
const capitalized = (verb: string): string => verb.charAt(0).toUpperCase() + verb.slice(1)

/** The kind of call, as ACP agents report it in `_meta`. */
function getKind({ params }: Fields): unknown {
  const meta = isObject(params) ? params._meta : undefined
  return isObject(meta) ? meta.kind : undefined
}

const reading = /^(?:read|view|open|cat)(?:[_-]?(?:text[_-]?)?file)?$/i
const searching = /^(?:search|grep|find|glob|rg)\b/i
const searchFields = ['pattern', 'query', 'regex', 'glob', 'q']

/** The last part of a path, which identifies the file. */
const baseName = (path: string): string => /[^/\\]+[/\\]?$/.exec(path)?.[0] ?? path

/** Summarizes calls, such as `edited 1 file, ran 2 commands, read 3 files`; `''` without calls. */
export function summarizeCalls(payloads: readonly Fields[]): string {
  const summaries = payloads.map(summarizeCall)
  const count = (sort: CallSummary['sort']): number => summaries.filter((each) => each.sort === sort).length
  const edited = new Set(summaries.filter(({ sort }) => sort === 'edit').map(({ object }) => object)).size
  const [ran, read, searched, others] = (['run', 'read', 'search', 'other'] as const).map(count)
  const parts = [
    edited > 0 && `edited ${countText(edited, 'file')}`,
    ran && `ran ${countText(ran, 'command')}`,
    read && `read ${countText(read, 'file')}`,
    searched && `searched ${countText(searched, 'time')}`,
    others && (others === summaries.length ? '' : 'called ') + countText(others, 'tool'),
  ]
  return parts.filter(Boolean).join(', ')
}
