import type { ProgramReports } from '../lib/control-client.js'
import { truncate } from '../render/width.js'
import type { Work } from './space-monitor.js'
import { workTable } from './work-table.js'

export interface TopParts {
  /** The space, its address, and the message rate. */
  readonly heading: string
  readonly work: readonly Work[]
  readonly programs: ProgramReports
  /** Id of the participant that key bindings act on. */
  readonly selected: string | undefined
  /** The last line: a question, a notice, or the key bindings. */
  readonly footer: string
  /** Lines to show instead of the table. */
  readonly page?: readonly string[]
}

export interface TopLayout {
  readonly columns: number
  readonly rows: number
  readonly now: number
  /** Highlights the selected row. */
  mark(text: string): string
}

/** The rows of the screen, truncated to its size. The selected row is always visible. */
export function renderTop(parts: TopParts, layout: TopLayout): string[] {
  const { columns, rows } = layout
  const height = Math.max(rows - 2, 1)
  const body = parts.page === undefined ? tableRows(parts, layout, height) : cutRows(parts.page, height)
  const lines = [parts.heading, ...body].map((line) => truncateRow(line, columns))
  const free = Math.max(rows - 1 - lines.length, 0)
  return [
    ...lines.slice(0, rows - 1),
    ...Array<string>(free).fill(''),
    truncateRow(parts.footer, columns),
  ].slice(-rows)
}

/** Truncates a plain row; rows with colours already have the right width. */
const truncateRow = (line: string, columns: number): string =>
  line.includes('\u001B') ? line : truncate(line, columns)

function tableRows(
  { work, programs, selected }: TopParts,
  { columns, now, mark }: TopLayout,
  height: number,
): string[] {
  const [titles = '', ...lines] = workTable(work, programs, { width: columns - 2, now })
  const at = Math.max(
    work.findIndex(({ id }) => id === selected),
    0,
  )
  const room = height - 1
  const shown = lines.length <= room ? lines.length : Math.max(room - 1, 1)
  const first = Math.min(Math.max(at - Math.floor(shown / 2), 0), lines.length - shown)
  const rows = lines
    .slice(first, first + shown)
    .map((line, index) => (first + index === at ? mark(`▶ ${line}`.padEnd(columns)) : `  ${line}`))
  const more = lines.length - shown
  return [`  ${titles}`, ...rows, ...(more > 0 && room > 1 ? [`  … ${more} more`] : [])]
}

const cutRows = (lines: readonly string[], height: number): readonly string[] =>
  lines.length <= height
    ? lines
    : [...lines.slice(0, height - 1), `… ${lines.length - height + 1} more lines`]
