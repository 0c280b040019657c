import type { Span } from '../span.js'
import { matchAt } from './match-at.js'

/** Values of a name that stand in lines below its own. */
export const valuesBelow = (text: string, at: number): readonly Span[] => [
  ...shownBelow(text, at),
  ...cellsBelow(text, at),
]

/** `$ vault read secret/…`, and it alone in the next line */
function shownBelow(text: string, at: number): readonly Span[] {
  if (!isCommand(text, at)) return []
  const start = matchAt(/[^\n]{0,160}\n(?=\S{12,}(?:\n|$))/y, text, at)
  return start === undefined ? [] : [{ start, end: matchAt(/\S*/y, text, start) ?? start }]
}

/** Whether the line is what was typed in a shell. */
const isCommand = (text: string, at: number): boolean => text.startsWith('$ ', startOfLine(text, at))

/** Of lines that are longer, some place in them. */
const longestLine = 512

export function startOfLine(text: string, at: number): number {
  const from = Math.max(0, at - longestLine)
  return from + text.slice(from, at).lastIndexOf('\n') + 1
}

const mostRows = 32
const separators = ['|', ';', ',', '\t']
const ruler = /^[ \t]*\|?[ \t:|+-]*-{3,}[ \t:|+-]*$/
/** Of the head of a table without a ruler, or nearly anything would be one. */
const heading = /^\s*"?[A-Za-z][\w .-]{0,40}"?\s*$/

/** The cells in a column of which a name is the head: of a table in Markdown or of a database's shell, or of CSV. */
function cellsBelow(text: string, from: number): readonly Span[] {
  if (matchAt(/"?[ \t]*(?:[|;,\t]|\r?\n|$)/y, text, from) === undefined) return []
  const line = startOfLine(text, from)
  const behind = text.indexOf('\n', from)
  if (behind === -1) return []
  const head = text.slice(line, behind)
  const separator = separators.find((each) => head.includes(each))
  if (separator === undefined) return []
  const columns = head.split(separator)
  const rows = text.slice(behind + 1, line + 16_384).split('\n', mostRows)
  const column = text.slice(line, from).split(separator).length - 1
  const isRuled = ruler.test(rows[0] ?? '')
  if (!isRuled && (separator === '|' || columns.length < 3 || !columns.every((each) => heading.test(each))))
    return []
  const lead = `(?:[^${separator}]*[${separator}]){${column}}[\\s"\`*]*`
  const cell = new RegExp(`^(${lead})([^\\s"\`*|${separator}]*)`)
  const fewest = isRuled ? 2 : columns.length
  const cells: Span[] = []
  let at = behind + 1 + (isRuled ? (rows.shift() ?? '').length + 1 : 0)
  for (const row of rows) {
    if (row.split(separator).length < fewest) break
    const [, { length } = '', value = ''] = cell.exec(row) ?? []
    cells.push({ start: at + length, end: at + length + value.length })
    at += row.length + 1
  }
  return cells
}
