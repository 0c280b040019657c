import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

const graphemes = new Intl.Segmenter()

/** Columns that a line takes in a terminal: wide characters take two, colours none. */
export const measureWidth = (text: string): number => stringWidth(text)

/** Truncates a plain line to a number of columns, with `…` at the end. */
export function truncate(text: string, columns: number): string {
  if (columns <= 0) return ''
  const start = text.slice(0, 20 * columns)
  if (start.length === text.length && measureWidth(text) <= columns) return text
  let [fitting, width] = ['', 0]
  for (const { segment } of graphemes.segment(start)) {
    width += measureWidth(segment)
    if (width > columns - 1) break
    fitting += segment
  }
  return `${fitting}…`
}

/** Truncates a plain line at its start, with `…` in front. */
export function truncateStart(text: string, columns: number): string {
  if (measureWidth(text) <= columns) return text
  let [fitting, width] = ['', 0]
  for (const { segment } of [...graphemes.segment(text)].reverse()) {
    width += measureWidth(segment)
    if (width > columns - 1) break
    fitting = segment + fitting
  }
  return `…${fitting}`
}

/** Wraps a line, which may contain colours; later rows are indented by `hang` columns. */
export function wrapLine(line: string, columns: number, hang: number): string[] {
  if (columns === Number.POSITIVE_INFINITY || measureWidth(line) <= columns) return [line]
  const indent = Math.min(hang, Math.max(Math.floor(columns / 2), 0))
  const rows = wrapAnsi(line, Math.max(columns - indent, 1), { hard: true, trim: false }).split('\n')
  return rows.map((row, at) =>
    at === 0 ? row.trimEnd() : `${' '.repeat(indent)}${row.replace(leadingSpace, '$1').trimEnd()}`,
  )
}

/** Matches the space at which `wrapAnsi` broke a line, at the start of the next row, with the colour codes before it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const leadingSpace = /^((?:\u001B\[[\d;]*m)*) /
