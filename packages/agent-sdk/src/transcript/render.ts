import { inlineJson, onOneLine, printable } from '@meup/folds'
import { diffArrays } from 'diff'
import type { LogEntry } from './chain.js'
import type { SentMessage, Usage } from './content.js'

export interface RenderOptions {
  /** Default: whether standard output is a terminal, and NO_COLOR is not set. */
  readonly colour?: boolean
}

/** Formats each commit as one line. */
export const renderLog = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [`${renderHead(entry)} ${onOneLine(entry.commit.message)}`], options)

/** Formats commits with their complete texts. */
export const renderFull = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [renderHead(entry), ...renderBody(entry).map((line) => `  ${line}`)], options)

/** Number of unchanged lines around a change. */
const contextLines = 3
/** Maximum milliseconds for a comparison; if it takes longer, both texts are shown completely. */
const maxDiffMs = 2000

/**
 * Formats the differences of two logs by line: `-` is from the first, `+` from the second. Empty if their texts are equal;
 * hashes and tokens are not compared.
 */
export function renderDiff(
  before: readonly LogEntry[],
  after: readonly LogEntry[],
  { colour = wantsColour() }: RenderOptions = {},
): string {
  const [old, now] = [before.flatMap(linesOf), after.flatMap(linesOf)]
  const changes = diffArrays(old, now, { comparator: isSameLine, timeout: maxDiffMs }) ?? [
    { value: old, removed: true, added: false },
    { value: now, removed: false, added: true },
  ]
  const lines = changes.flatMap(({ added, removed, value }) => {
    const sign = added ? '+' : removed ? '-' : ' '
    return value.map((line) => ({ ...line, sign }))
  })
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ sign }) => sign !== ' '),
  )
  const shown = lines.flatMap(({ sign, text, isMuted }, at) => {
    if (!isNear[at]) return isNear[at - 1] ? ['…'] : []
    const line = `${sign} ${text}`.trimEnd()
    return isMuted && colour ? [muted(line)] : [line]
  })
  return joined(shown.at(-1) === '…' ? shown.slice(0, -1) : shown)
}

interface Line {
  readonly text: string
  readonly isMuted: boolean
}

const isSameLine = (one: Line, other: Line): boolean =>
  one.text === other.text && one.isMuted === other.isMuted

function linesOf(entry: LogEntry): Line[] {
  const isMuted = isReasoning(entry)
  const { content } = entry.commit
  const head = `[${content.content_type}]${renderAside(entry, [])}`
  return [head, ...renderBody(entry).map((line) => `  ${line}`)].map((text) => ({ text, isMuted }))
}

function render(
  entries: readonly LogEntry[],
  renderLines: (entry: LogEntry) => readonly string[],
  { colour = wantsColour() }: RenderOptions = {},
): string {
  return joined(entries.flatMap((entry) => toned(entry, renderLines(entry), colour)))
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

const toned = (entry: LogEntry, lines: readonly string[], colour: boolean): string[] =>
  colour && isReasoning(entry) ? lines.map(muted) : [...lines]

const isReasoning = ({ commit }: LogEntry): boolean => commit.content.content_type === 'reasoning'

/** Formats secondary text in dim cyan. */
const muted = (line: string): string => `\u001B[2;36m${line}\u001B[0m`

const renderHead = (entry: LogEntry): string =>
  `${entry.commit.hash.slice(0, 7)} [${entry.commit.content.content_type}]${renderAside(entry, renderCounts(entry.usage))}`

/** Formats the annotation and speaker of a commit. */
function renderAside({ commit: { content }, annotation }: LogEntry, counts: readonly string[]): string {
  const from = 'from' in content && content.from !== undefined ? ` ${onOneLine(content.from)}:` : ''
  const notes = [annotation?.priority ?? [], ...counts].flat()
  return `${notes.length === 0 ? '' : ` (${notes.join(', ')})`}${from}`
}

/** Formats token counts: `120 input, 40 output, 30 reasoning`; omits unknown ones. */
const renderCounts = (usage: Usage | undefined): string[] =>
  Object.entries(usage ?? {}).flatMap(([name, count]) => (count === null ? [] : `${count} ${name}`))

function renderBody({ commit: { content } }: LogEntry): string[] {
  const calls = content.content_type === 'assistant' ? (content.toolCalls ?? []) : []
  const messages = content.content_type === 'prompt' ? content.messages : []
  return [
    ...(content.text === '' ? [] : printable(content.text).split('\n')),
    ...messages.flatMap(renderMessage),
    ...calls.map(({ name, arguments: args }) => `→ ${onOneLine(name)} ${onOneLine(inlineJson(args, 200))}`),
  ]
}

function renderMessage({ role, chars, hash, message }: SentMessage): string[] {
  const head = `${onOneLine(role)}, ${chars} characters, ${hash.slice(0, 7)}`
  return [head, ...(message === undefined ? [] : readMessage(message).map((line) => `  ${line}`))]
}

/** Returns the texts of a message, and its other parts as JSON. */
function readMessage(message: unknown): string[] {
  const { content } = message as { content?: unknown }
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  return parts.flatMap((part) => {
    const { text = part } = (part ?? {}) as { text?: unknown }
    return typeof text === 'string' ? printable(text).split('\n') : [onOneLine(inlineJson(part, 500))]
  })
}

interface Host {
  readonly process?: { readonly env?: { readonly NO_COLOR?: string }; readonly stdout?: { isTTY?: boolean } }
}

/** Whether standard output is a terminal, and `NO_COLOR` is not set (https://no-color.org). Browsers have no terminal. */
function wantsColour(): boolean {
  const { process } = globalThis as Host
  return process?.stdout?.isTTY === true && (process.env?.NO_COLOR ?? '') === ''
}
