import { formatDuration } from '@meup/folds'
import { aboutCall } from '../render/tool-line.js'
import { measureWidth, truncate, truncateStart } from '../render/width.js'
import type { RunningTool, Thinker } from './activity-fold.js'
import { lineEnd, toDisplay } from './pastes.js'
import type { Footer } from './terminal.js'

/** Maximum lines of the footer with one input row; each further input row adds one. */
const maxLines = 8
/** Maximum lines of unfinished answers. */
const maxAnswerLines = 4

export interface FooterParts {
  /** Names of the participant and the space. */
  readonly heading: string
  /** Rows of each unfinished answer that are not in the scrollback yet. */
  answers(columns: number): readonly (readonly string[])[]
  readonly thinkers: readonly Thinker[]
  readonly tools: readonly RunningTool[]
  readonly showsThoughts: boolean
  /** Summary of open proposals. */
  readonly pending: string | undefined
  /** Choices, or completions offered by Tab. */
  readonly notices: readonly string[]
  /** The input line, and its part before the cursor; absent if there is no input. */
  readonly typed?: { readonly text: string; readonly before: string }
}

export interface FooterLayout {
  readonly columns: number
  readonly rows: number
  /** Current time, in ms since the epoch. */
  readonly now: number
  /** Dims all text except the input. */
  dim(text: string): string
}

/** Renders at most `maxLines` lines above further input rows, each fitting on one row; fewer on a small screen. */
export function renderFooter(parts: FooterParts, { columns, rows, now, dim }: FooterLayout): Footer {
  const { heading, answers, pending, notices, typed } = parts
  const input =
    typed === undefined
      ? undefined
      : renderInput(toDisplay(typed.text), toDisplay(typed.before), columns, rows)
  let left =
    Math.min(maxLines, Math.max(rows - (input?.lines.length ?? 0), 1)) - (input === undefined ? 0 : 1)
  const fitLines = (lines: readonly string[]): readonly string[] => {
    const taken = lines.length <= left ? lines : [...lines.slice(0, Math.max(left - 1, 0)), more(lines, left)]
    left = Math.max(left - taken.length, 0)
    return taken
  }
  // Parts that come first keep their lines: each call takes from `left`, and at 0 it would still add `… more`.
  const [title = ''] = left > 0 ? fitLines([rule(heading, columns)]) : []
  const noticed = left > 0 ? fitLines(notices) : []
  const waiting = left > 0 && pending !== undefined ? fitLines([pending]) : []
  const written = fitLines(formatAnswers(answers(columns), left))
  const active = left > 0 ? fitLines(formatActivity(parts, now)) : []
  const lines = [title, ...written, ...active, ...waiting, ...noticed].filter((line) => line !== '')
  const fitted = lines.map((line) => dim(truncate(line, columns)))
  if (input === undefined) return { lines: fitted, cursor: 0, below: 0 }
  const { cursor, below } = input
  return { lines: [...fitted, ...input.lines], cursor, below }
}

/** The last rows of unfinished answers. */
function formatAnswers(answers: readonly (readonly string[])[], left: number): string[] {
  const maxRows = Math.min(maxAnswerLines, left)
  const each = Math.max(1, Math.floor(maxRows / answers.length))
  return answers.flatMap((rows) => rows.slice(-each)).slice(0, maxRows)
}

function formatActivity({ thinkers, tools, showsThoughts }: FooterParts, now: number): string[] {
  return [
    ...thinkers.map(({ agent, since, runs, waiting, last, isVisible }) => {
      const several = runs > 1 ? ` · ${runs} runs` : ''
      const queue = waiting > 0 ? ` · ${waiting} ${waiting === 1 ? 'message waits' : 'messages wait'}` : ''
      const thought = showsThoughts && isVisible && last !== '' ? ` · ${last}` : ''
      return `${agent}  ○ Thinking... ${formatElapsed(since, now)}${several}${queue}${thought}`
    }),
    ...tools.map(
      ({ caller, call, since, ...rest }) =>
        `${caller}  ○ ${call.tool} ${formatElapsed(since, now)}${formatProgress(rest)}${aboutCall(call)}`,
    ),
  ]
}

function formatProgress({ progress }: Pick<RunningTool, 'progress'>): string {
  if (progress === undefined) return ''
  const { done, total, message } = progress
  const far =
    total === undefined
      ? `${done}`
      : `${Math.round((100 * done) / total)} % ${renderProgressBar(done / total)}`
  return ` ${far}${message ? ` · ${message}` : ''}`
}

/** A bar of ten cells: `■■■□□□□□□□`. */
function renderProgressBar(part: number): string {
  const full = Math.round(10 * Math.min(Math.max(part, 0), 1))
  return '■'.repeat(full) + '□'.repeat(10 - full)
}

const formatElapsed = (since: number, now: number): string =>
  formatDuration(100 * Math.max(Math.floor((now - since) / 100), 1))

const more = (lines: readonly string[], left: number): string => `… ${lines.length - left + 1} more`

const rule = (heading: string, columns: number): string => {
  const title = `── ${truncate(heading, columns - 4)} `
  return `${title}${'─'.repeat(Math.max(columns - measureWidth(title), 0))}`
}

const maxInputRows = 6

/** Renders the input rows around the cursor; each is truncated to its visible part. */
function renderInput(
  text: string,
  before: string,
  columns: number,
  rows: number,
): Pick<Footer, 'lines' | 'cursor' | 'below'> {
  const all = text.split(lineEnd)
  const at = before.split(lineEnd).length - 1
  const count = Math.min(all.length, maxInputRows, Math.max(rows - 2, 1))
  const first = Math.min(Math.max(at - count + 1, 0), all.length - count)
  const { line, cursor } = renderRow(all[at] ?? '', before.slice(before.lastIndexOf(lineEnd) + 1), columns)
  const shown = all.slice(first, first + count).map((row, index) => {
    const sign = index === 0 ? (first === 0 ? '> ' : '… ') : '  '
    // The sign has two columns, the cursor one.
    return `${sign}${first + index === at ? line : truncate(row, columns - 3)}`
  })
  return { lines: shown, cursor: 2 + cursor, below: first + count - 1 - at }
}

function renderRow(text: string, before: string, columns: number): { line: string; cursor: number } {
  const inputColumns = columns - 3
  const shownBefore = truncateStart(before, inputColumns)
  const behind = text.slice(before.length)
  const shownBehind = truncate(behind, inputColumns - measureWidth(shownBefore) + 1)
  return { line: `${shownBefore}${shownBehind}`, cursor: measureWidth(shownBefore) }
}
