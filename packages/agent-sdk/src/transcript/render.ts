import { inlineJson, onOneLine, printable } from '@meup/folds'
import type { LogEntry } from './chain.js'
import type { Usage } from './content.js'

export interface RenderOptions {
  /** Default: whether standard output is a terminal and NO_COLOR is not set. */
  readonly colour?: boolean
}

/** One line for each commit. */
export const renderLog = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [`${renderHead(entry)} ${onOneLine(entry.commit.message)}`], options)

/** Each commit with all of its text. */
export const renderFull = (entries: readonly LogEntry[], options?: RenderOptions): string =>
  render(entries, (entry) => [renderHead(entry), ...renderBody(entry).map((line) => `  ${line}`)], options)

/**
 * What the second log has and the first has not, and the other way round: whole commits, and the notes beside those that
 * both have.
 */
export function renderDiff(
  before: readonly LogEntry[],
  after: readonly LogEntry[],
  { colour = wantsColour() }: RenderOptions = {},
): string {
  const [old, now] = [before, after].map((log) => new Map(log.map((entry) => [entry.commit.hash, entry])))
  const changed = before.flatMap((entry) => {
    const same = now?.get(entry.commit.hash)
    if (same === undefined) return signed('-', entry, renderEntry(entry), colour)
    if (renderHead(same) === renderHead(entry)) return []
    return [
      ...signed('-', entry, [renderHead(entry)], colour),
      ...signed('+', same, [renderHead(same)], colour),
    ]
  })
  const added = after.filter(({ commit }) => !old?.has(commit.hash))
  return joined([...changed, ...added.flatMap((entry) => signed('+', entry, renderEntry(entry), colour))])
}

const renderEntry = (entry: LogEntry): string[] => [renderHead(entry), ...renderBody(entry)]

const signed = (sign: '+' | '-', entry: LogEntry, lines: readonly string[], colour: boolean): string[] =>
  toned(
    entry,
    lines.map((line) => `${sign} ${line}`),
    colour,
  )

function render(
  entries: readonly LogEntry[],
  renderLines: (entry: LogEntry) => readonly string[],
  { colour = wantsColour() }: RenderOptions = {},
): string {
  return joined(entries.flatMap((entry) => toned(entry, renderLines(entry), colour)))
}

const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

function toned({ commit }: LogEntry, lines: readonly string[], colour: boolean): string[] {
  return colour && commit.content.content_type === 'reasoning' ? lines.map(muted) : [...lines]
}

/** Dim cyan: behind the scenes. */
const muted = (line: string): string => `\u001B[2;36m${line}\u001B[0m`

function renderHead({ commit: { hash, content }, annotation, usage }: LogEntry): string {
  const from = 'from' in content && content.from !== undefined ? ` ${onOneLine(content.from)}:` : ''
  const notes = [annotation?.priority ?? [], ...renderCounts(usage)].flat()
  const aside = notes.length === 0 ? '' : ` (${notes.join(', ')})`
  return `${hash.slice(0, 7)} [${content.content_type}]${aside}${from}`
}

/** `120 input, 40 output, 30 reasoning`, as far as it is known. */
const renderCounts = (usage: Usage | undefined): string[] =>
  Object.entries(usage ?? {}).flatMap(([name, count]) => (count === null ? [] : `${count} ${name}`))

function renderBody({ commit: { content } }: LogEntry): string[] {
  const calls = content.content_type === 'assistant' ? (content.toolCalls ?? []) : []
  return [
    ...(content.text === '' ? [] : printable(content.text).split('\n')),
    ...calls.map(({ name, arguments: args }) => `→ ${onOneLine(name)} ${onOneLine(inlineJson(args, 200))}`),
  ]
}

interface Host {
  readonly process?: { readonly env?: { readonly NO_COLOR?: string }; readonly stdout?: { isTTY?: boolean } }
}

/** Whether stdout is a terminal and `NO_COLOR` is not set (https://no-color.org). A page is no terminal. */
function wantsColour(): boolean {
  const { process } = globalThis as Host
  return process?.stdout?.isTTY === true && (process.env?.NO_COLOR ?? '') === ''
}
