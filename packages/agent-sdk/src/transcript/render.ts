import { inlineJson, onOneLine, printable } from '@meup/views'
import type { LogEntry } from './chain.js'
import { wantsColour } from './colour.js'
import type { Usage } from './usage.js'

export interface RenderOptions {
  /** Default: whether standard output is a terminal and NO_COLOR is not set. */
  readonly colour?: boolean
}

/** One line for each commit. */
export const renderLog = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [`${headOf(entry)} ${onOneLine(entry.commit.message)}`], options)

/** Each commit with all of its text. */
export const renderFull = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [headOf(entry), ...bodyOf(entry).map((line) => `  ${line}`)], options)

/** The same as what was added to a transcript: of a `log` with `after`. */
export const renderDiff = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [headOf(entry), ...bodyOf(entry)].map((line) => `+ ${line}`), options)

function render(
  entries: readonly LogEntry[],
  linesOf: (entry: LogEntry) => readonly string[],
  { colour = wantsColour() }: RenderOptions = {},
): string {
  const lines = entries.flatMap((entry) => {
    const isMuted = colour && entry.commit.content.type === 'reasoning'
    return isMuted ? linesOf(entry).map(muted) : linesOf(entry)
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** Dim cyan: behind the scenes. */
const muted = (line: string): string => `\u001B[2;36m${line}\u001B[0m`

function headOf({ commit: { hash, content }, annotation, usage }: LogEntry): string {
  const from = 'from' in content && content.from !== undefined ? ` ${onOneLine(content.from)}:` : ''
  const notes = [annotation?.priority ?? [], ...countsOf(usage)].flat()
  const aside = notes.length === 0 ? '' : ` (${notes.join(', ')})`
  return `${hash.slice(0, 7)} [${content.type}]${aside}${from}`
}

/** `120 input, 40 output, 30 reasoning`, as far as it is known. */
const countsOf = (usage: Usage | undefined): string[] =>
  Object.entries(usage ?? {}).flatMap(([name, count]) => (count === null ? [] : `${count} ${name}`))

function bodyOf({ commit: { content } }: LogEntry): string[] {
  const calls = content.type === 'assistant' ? (content.toolCalls ?? []) : []
  return [
    ...(content.text === '' ? [] : printable(content.text).split('\n')),
    ...calls.map(({ name, arguments: args }) => `→ ${onOneLine(name)} ${onOneLine(inlineJson(args, 200))}`),
  ]
}
