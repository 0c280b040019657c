// For `assignment.ts`: how a name leads to its value.

import type { Span } from '../spans.js'
import { matchAt } from './detector.js'

/** Minimum characters of a value after a notation that is weak evidence of a value, such as a dash or a blank. */
export const minWeakValueChars = 16

/** A notation between a name and its value, nearly always on one line, and the minimum characters of a value after it. */
type Notation = readonly [pattern: RegExp, least: number]

const sign = /[ \t]*[=:!→：]/y
/** Notations that begin with an assignment sign, such as `=` or `:`. */
const assigned: readonly Notation[] = [
  // `name: string = "…"`, `name := …`, `name => …`
  [
    /[ \t]*(?:=>|:=|→|：|!?={1,3}|:[ \t]*[>|][-+]?[ \t]*\n\s*|:(?:[ \t]*[\w.<>[\]]+[ \t]*=(?=[ \t]*["'`\w]))?)[ \t]*/y,
    12,
  ],
  // `Your token:` followed by a line with only the value
  [/:[ \t]*\n\s{1,12}(?=\S+[ \t]*(?:\n|$))/y, 12],
]

/** Notations that begin without an assignment sign. */
const said: readonly Notation[] = [
  [/[ \t]*(?:->|\?=)[ \t]*|[はが은는「：\s]{1,3}(?<=「)/y, 12],
  // `process.env.NAME ?? '…'`
  [/[ \t]*(?:\?\?|\|\|)[ \t]*(?=["'`])|\}?"?\][ \t]*(?:\?\?|\|\|)[ \t]*(?=["'`])/y, 12],
  // `{"name": "token", "value": "…"}`; `- name: TOKEN`, and `value: …` on the next line; `--name token --value …`
  [
    /[ \t]*,?(?:\s{0,40}|(?:[ \t]+\w+=\w+){1,4}[ \t]+)\\{0,2}["']?value\\{0,2}["']?[ \t]*[:=][ \t]*|[ \t]+--?(?:value|body|data|secret-string)[ \t=]+/iy,
    12,
  ],
  // `getByLabel('Password').fill('…')`
  [/\.\w{2,10}\([ \t]*(?=["'`])/y, 12],
  // `setToken("…")`, `("token", "…")`, `| token | …`
  [/[ \t]*\([ \t]*(?=["'`])|[ \t]*,[ \t]*(?=\\{0,2}["'`])|[ \t]*\|[ \t]*/y, 12],
  // `<token>…`, `<entry key="token" type="text">…`, `<name>token</name><value>…`
  [
    /<\/[\w:-]+>\s{0,40}<[\w:-]+>|(?:[ \t][\w:-]+="[^"\n<>]{0,60}")*[ \t]*>(?:\s{0,40}<(?:value|string)>)?/iy,
    12,
  ],
  [/[ \t]+(?:for|of|to|from|on|in|at)[ \t]+[^\n:=.]{1,40}?[ \t]*[:=→][ \t]+/iy, 12],
  // `Your token (shown once):` followed by a line with only the value; `A password is made for root@localhost: …`
  [
    /[ \t(][^\n:]{0,100}:[ \t]*\n\s{0,12}(?:[-*][ \t]+)?(?=\S+[ \t]*(?:\n|$))|[ \t][^\n:=.]{1,60}:[ \t]+(?=\S+[ \t]*(?:\n|$))/y,
    12,
  ],
  [
    /[ \t]+(?:[^\n:=.]{1,60}?[ \t]+)?(?:is|was|are|to|as|will be|lautet|ist|est|es|è|é|jest)(?:[ \t]+(?:now|jetzt|(?:changed|set|reset|rotated) to|replaced (?:by|with)))?:?[ \t]+/iy,
    minWeakValueChars,
  ],
  [/[ \t][^\n:=.]{1,40}[ \t]?:[ \t]+/y, minWeakValueChars],
  [/[ \t]+[-–—][ \t]+|[ \t]+(?:[5-9][ \t]+)?|-(?=[\w+/-]{16,}={0,2}(?:["'`\s]|$))/y, minWeakValueChars],
]

/** Lists the notations that may lead from a name, which ends at `at`, to its value. */
export const notationsAt = (text: string, at: number): readonly Notation[] =>
  matchAt(sign, text, at) === undefined ? said : assigned

/**
 * Text that may precede a value: `new Key(` or `b` before a quote, the quote, a scheme such as `Bearer`, and `{` or `{xor}` of
 * Java servers.
 */
const lead =
  /(?:(?:new[ \t]+)?(?:[A-Za-z]\w*(?:\.|::))*[A-Za-z]\w*\((?=["'`])|[brfuN](?=["'`]))?(\\{0,2}["'`]|\*{0,2}`|\*{2})?(?:(?:Bearer|Basic|Token|Bot|ApiKey|Key|App|[A-Z]{2,8}|[A-Z][a-z]+\.[A-Z][a-z]+)[ \t]+(?=\S{12}))?(?:\{(?:[xX][oO][rR]\})?(?=[\w+/]{12,}={0,2}(?:\}|["'<])))?/y
/** Matches a value without quotes. Signs may belong to a password, and `&amp;` may be a character of XML. */
const unquoted =
  /^(?:[^\s"'`,;(){}[\]<>|&\\*」』。、]|&(?:amp|lt|gt);|(?<=[^\s:=])[&*](?=[^\s"'`]{3})(?!\w+[=;]))+/
/** Matches a quoted value, unless it consists of several words of prose. */
const one = /^(?:\S+|[a-z]+(?: [a-z]+)+)$/

/** Finds the value that begins at a position. `longest`: maximum characters of an unquoted value that are examined. */
export function assignedValueAt(
  text: string,
  from: number,
  longest: number,
): (Span & { readonly isQuoted: boolean }) | undefined {
  lead.lastIndex = from
  const opened = lead.exec(text)?.[1]
  const start = lead.lastIndex
  const near = text.slice(start, start + longest)
  const length = opened === undefined ? -1 : near.indexOf(opened)
  if (length > 0)
    return one.test(near.slice(0, length)) ? { start, end: start + length, isQuoted: true } : undefined
  const value = unquoted.exec(near)?.[0].replace(/[.:!?]+$/, '')
  return value === undefined ? undefined : { start, end: start + value.length, isQuoted: false }
}

/** Finds values on the lines below the name. */
export const valuesBelow = (text: string, at: number): readonly Span[] => [
  ...shownBelow(text, at),
  ...cellsBelow(text, at),
]

/** `$ vault read secret/…` followed by a line with only the value */
function shownBelow(text: string, at: number): readonly Span[] {
  if (!isCommand(text, at)) return []
  const start = matchAt(/[^\n]{0,160}\n(?=\S{12,}(?:\n|$))/y, text, at)
  return start === undefined ? [] : [{ start, end: matchAt(/\S*/y, text, start) ?? start }]
}

/** Whether the line of this position is a shell command. */
const isCommand = (text: string, at: number): boolean => text.startsWith('$ ', startOfLine(text, at))

/** Maximum characters of a line that are examined. */
const maxLineChars = 512

export function startOfLine(text: string, at: number): number {
  const from = Math.max(0, at - maxLineChars)
  return from + text.slice(from, at).lastIndexOf('\n') + 1
}

const maxRows = 32
const separators = ['|', ';', ',', '\t']
const ruler = /^[ \t]*\|?[ \t:|+-]*-{3,}[ \t:|+-]*$/
/** Matches the header of a table without a ruler. Strict, because otherwise nearly any text would match. */
const heading = /^\s*"?[A-Za-z][\w .-]{0,40}"?\s*$/

/** Finds the cells in the column below a name: in a Markdown table, the output of a database shell, or CSV. */
function cellsBelow(text: string, from: number): readonly Span[] {
  if (matchAt(/"?[ \t]*(?:[|;,\t]|\r?\n|$)/y, text, from) === undefined) return []
  const line = startOfLine(text, from)
  const behind = text.indexOf('\n', from)
  if (behind === -1) return []
  const head = text.slice(line, behind)
  const separator = separators.find((each) => head.includes(each))
  if (separator === undefined) return []
  const columns = head.split(separator)
  const rows = text.slice(behind + 1, line + 16_384).split('\n', maxRows)
  const column = text.slice(line, from).split(separator).length - 1
  const isRuled = ruler.test(rows[0] ?? '')
  if (!isRuled && (separator === '|' || columns.length < 3 || !columns.every((each) => heading.test(each))))
    return []
  const cellsBefore = `(?:[^${separator}]*[${separator}]){${column}}[\\s"\`*]*`
  const cell = new RegExp(`^(${cellsBefore})([^\\s"\`*|${separator}]*)`)
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
