import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { type CodeStyle, highlightLine } from './highlight.js'
import { measureWidth } from './width.js'

/** Functions that style parts of a text. */
export interface MarkdownStyle extends CodeStyle {
  strong(text: string): string
  code(text: string): string
  quiet(text: string): string
}

export const plainMarkdown: MarkdownStyle = {
  strong: (text) => text,
  code: (text) => `\`${text}\``,
  quiet: (text) => text,
  keyword: (text) => text,
  literal: (text) => text,
  comment: (text) => text,
  added: (text) => text,
  removed: (text) => text,
}

const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001B[${on}m${text}\u001B[${off}m`

export const colourMarkdown: MarkdownStyle = {
  ...{ strong: sgr(1, 22), code: sgr(36, 39), quiet: sgr(2, 22) },
  ...{
    keyword: sgr(35, 39),
    literal: sgr(32, 39),
    comment: sgr(2, 22),
    added: sgr(32, 39),
    removed: sgr(31, 39),
  },
}

/** Maximum characters of a text, and maximum depth of elements; beyond them, Markdown is shown as written. */
const [maxChars, maxDepth] = [20_000, 8]

/** Maximum columns to which a table cell is padded. */
const maxColumnWidth = 40

/**
 * Renders Markdown as lines for a terminal. The text must be printable, so that the style's escape sequences are the only ones.
 */
export function renderMarkdown(text: string, style: MarkdownStyle): string[] {
  if (text.length > maxChars) return text.split('\n')
  try {
    return withoutEdges(blocks(lexer(text, { gfm: true }), style, 0))
  } catch {
    return text.split('\n') // Shown as written.
  }
}

function blocks(tokens: readonly Token[], style: MarkdownStyle, depth: number): string[] {
  if (depth > maxDepth) return tokens.flatMap(({ raw }) => raw.split('\n'))
  return tokens.flatMap((token) => block(token as MarkedToken, style, depth))
}

function block(token: MarkedToken, style: MarkdownStyle, depth: number): string[] {
  const inner = (): string[] => inline(token as Inline, style, depth).split('\n')
  switch (token.type) {
    case 'space':
      return ['']
    case 'heading':
      return inner().map(style.strong)
    case 'code':
      return formatCode(token, style)
    case 'blockquote':
      return withoutEdges(blocks(token.tokens, style, depth + 1)).map((line) => style.quiet(`▏ ${line}`))
    case 'list':
      return token.items.flatMap((item, at) => listItem(item, marker(token, at), style, depth))
    case 'table':
      return table(token, style, depth)
    case 'hr':
      return [style.quiet('───')]
    case 'paragraph':
    case 'text':
      return inner()
    default:
      return token.raw.replace(/\n+$/, '').split('\n')
  }
}

/** Maximum characters of a line of code that is highlighted. */
const maxCodeLineChars = 1000

function formatCode({ text, lang = '' }: Tokens.Code, style: MarkdownStyle): string[] {
  const [language = ''] = lang
    .trim()
    .toLowerCase()
    .split(/[\s{,:]/)
  return text.split('\n').map((line) => {
    const isShort = line.length <= maxCodeLineChars
    return `    ${isShort ? highlightLine(line, language, style) : line}`
  })
}

const marker = ({ ordered, start }: Tokens.List, at: number): string =>
  ordered ? `${(Number(start) || 1) + at}. ` : '• '

function listItem(item: Tokens.ListItem, mark: string, style: MarkdownStyle, depth: number): string[] {
  const box = item.task ? (item.checked ? '☑ ' : '☐ ') : ''
  const lines = withoutEdges(
    blocks(
      item.tokens.filter(({ type }) => type !== 'checkbox'),
      style,
      depth + 1,
    ),
  )
  return lines.map((line, at) => `${at === 0 ? mark + box : ' '.repeat(mark.length)}${line}`)
}

function table({ header, rows }: Tokens.Table, style: MarkdownStyle, depth: number): string[] {
  const text = (row: readonly Tokens.TableCell[]): string[] =>
    row.map((cell) => inline(cell, style, depth).replaceAll('\n', ' '))
  const all = [text(header).map(style.strong), ...rows.map(text)]
  const widths = header.map((_, column) =>
    Math.min(Math.max(...all.map((row) => measureWidth(row[column] ?? ''))), maxColumnWidth),
  )
  return all.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat(Math.max((widths[column] ?? 0) - measureWidth(cell), 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** A token with inline tokens, or plain text. */
interface Inline {
  readonly tokens?: readonly Token[] | undefined
  readonly text?: string
}

function inline({ tokens, ...token }: Inline, style: MarkdownStyle, depth: number): string {
  if (tokens === undefined) return token.text ?? ''
  if (depth > maxDepth) return tokens.map(({ raw }) => raw).join('')
  return tokens.map((each) => span(each as MarkedToken, style, depth + 1)).join('')
}

function span(token: MarkedToken, style: MarkdownStyle, depth: number): string {
  const inner = (): string => inline(token as Inline, style, depth)
  switch (token.type) {
    case 'strong':
    case 'em':
      return inner().split('\n').map(style.strong).join('\n')
    case 'codespan':
      return style.code(token.text)
    case 'link':
      return link(token, inner())
    case 'br':
      return '\n'
    case 'escape':
      return token.text
    case 'text':
      return token.tokens === undefined ? token.text : inner()
    default:
      return token.raw
  }
}

/** Shows the link's target next to its text, which could be misleading. */
const link = ({ href, text, raw }: Tokens.Link, shown: string): string => {
  if (!/^https?:/i.test(href)) return raw
  return text === href || text === href.replace(/^https?:\/\//i, '') ? href : `${shown} (${href})`
}

/** Removes empty lines at the beginning and the end. */
function withoutEdges(lines: readonly string[]): string[] {
  const isFull = (line: string): boolean => line.trim() !== ''
  const first = lines.findIndex(isFull)
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex(isFull) + 1)
}
