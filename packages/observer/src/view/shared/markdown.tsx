import type { Lexer, MarkedToken, Token, Tokens } from 'marked'
import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { countText, findDefinitions, namesHost, splitText } from '../../model/index.js'
import { CodeBlock } from './code.js'
import { lazyHook } from './lazy.js'
import { useOpened } from './opened.js'
import { memo, UntrustedText } from './parts.js'
import { TableBox } from './table-box.js'

/** Maximum nesting; deeper Markdown is shown as source. */
const maxDepth = 8

/** The Markdown parser, imported when first needed. */
const useLexer = lazyHook(
  () => import('marked').then(({ Lexer }) => Lexer),
  'Markdown shows as it was written:',
)

interface MarkdownProps {
  readonly text: string
  /** The whole text, if `text` is a part: its link definitions apply. */
  readonly of?: string
}

/** Untrusted Markdown: without HTML and images, with links to web addresses only. */
export function Markdown({ text, of = text }: MarkdownProps): VNode {
  const Reader = useLexer()
  const parts = useMemo(() => splitText(text), [text])
  const definitions = useMemo(() => findDefinitions(of), [of])
  if (Reader === undefined) return <UntrustedText text={text} />
  return (
    <div class={`said markdown ${parts.length > 1 ? 'long' : ''}`}>
      {parts.map((part, index) => (
        <Part key={index} Reader={Reader} text={part} definitions={definitions} />
      ))}
    </div>
  )
}

interface PartProps {
  readonly Reader: typeof Lexer
  readonly text: string
  readonly definitions: string
}

/** Memoized, so that only the last part of a growing text is parsed again. */
const Part = memo(({ Reader, text, definitions }: PartProps): VNode => {
  const tokens = read(Reader, text, definitions)
  return <div dir="auto">{tokens === undefined ? text : <All tokens={tokens} depth={0} />}</div>
})

function read(Reader: typeof Lexer, text: string, definitions: string): readonly Token[] | undefined {
  try {
    const { links } = new Reader({ gfm: true }).lex(definitions)
    const reader = new Reader({ gfm: true })
    Object.assign(reader.tokens.links, links)
    return reader.lex(text)
  } catch (error) {
    console.info('this shows as it was written:', error)
    return undefined
  }
}

interface Nested {
  readonly tokens: readonly Token[] | undefined
  readonly depth: number
}

function All({ tokens = [], depth }: Nested): VNode {
  if (depth > maxDepth) return <>{tokens.map(({ raw }) => raw).join('')}</>
  return (
    <>
      {tokens.map((token, index) => (
        <One key={index} token={token as MarkedToken} depth={depth + 1} />
      ))}
    </>
  )
}

/** Headings start below the levels that the page uses. */
const headings = ['h3', 'h4', 'h5', 'h6'] as const

function One({ token, depth }: { token: MarkedToken; depth: number }): ComponentChildren {
  const inner = 'tokens' in token && <All tokens={token.tokens} depth={depth} />
  // Top-level blocks may have different text directions.
  const dir = depth === 1 ? ('auto' as const) : undefined
  switch (token.type) {
    case 'paragraph':
      return <p dir={dir}>{inner}</p>
    case 'heading': {
      const Heading = headings[token.depth - 1] ?? 'h6'
      return <Heading dir={dir}>{inner}</Heading>
    }
    case 'blockquote':
      return <blockquote dir={dir}>{inner}</blockquote>
    case 'list':
      return <List list={token} depth={depth} dir={dir} />
    case 'table':
      return <Table table={token} depth={depth} />
    case 'code':
      return <CodeBlock text={token.text} language={/^[\w#+.-]{1,20}/.exec(token.lang ?? '')?.[0]} />
    case 'codespan':
      return <code dir="ltr">{token.text}</code>
    case 'strong':
      return <strong>{inner}</strong>
    case 'em':
      return <em>{inner}</em>
    case 'del':
      return <del>{inner}</del>
    case 'br':
      return <br />
    case 'hr':
      return <hr />
    case 'link':
      return <Link link={token}>{inner}</Link>
    case 'escape':
      return token.text
    case 'text':
      return token.tokens === undefined ? token.text : inner
    case 'checkbox':
      return token.checked ? '☑ ' : '☐ '
    case 'space':
    case 'def':
      return null
    default:
      return token.raw
  }
}

interface ListProps {
  readonly list: Tokens.List
  readonly depth: number
  readonly dir: 'auto' | undefined
}

function List({ list: { ordered, start, items }, depth, dir }: ListProps): VNode {
  const children = items.map(({ tokens, task }, index) => (
    <li key={index} class={task ? 'task' : ''}>
      <All tokens={tokens} depth={depth} />
    </li>
  ))
  if (!ordered) return <ul dir={dir}>{children}</ul>
  return (
    <ol dir={dir} start={Number(start) || 1}>
      {children}
    </ol>
  )
}

/** Maximum rows of a folded table, and maximum characters of a cell that is not wrapped. */
const [maxRows, maxUnbrokenChars] = [100, 24]

function Table({ table: { header, rows, raw }, depth }: { table: Tokens.Table; depth: number }): VNode {
  const [isWhole, toggle] = useOpened(`table ${raw.length} ${raw.slice(0, 200)}`)
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td'): VNode[] =>
    row.map(({ tokens, text, align }, index) => (
      <Cell key={index} dir="auto" class={`${text.length < maxUnbrokenChars ? 'short' : ''} ${align ?? ''}`}>
        <All tokens={tokens} depth={depth} />
      </Cell>
    ))
  return (
    <>
      <TableBox>
        <thead>
          <tr>{cells(header, 'th')}</tr>
        </thead>
        <tbody>
          {rows.slice(0, isWhole ? rows.length : maxRows).map((row, index) => (
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </TableBox>
      {rows.length > maxRows && !isWhole && (
        <button type="button" class="link" onClick={toggle}>
          Show all {countText(rows.length, 'row')}
        </button>
      )}
    </>
  )
}

interface LinkProps {
  readonly link: Pick<Tokens.Link, 'href' | 'raw' | 'text'>
  readonly children: ComponentChildren
}

/** A link with its target; targets other than web addresses are shown as text. */
function Link({ link: { href, raw, text }, children }: LinkProps) {
  const url = URL.parse(href)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return raw
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer nofollow" title={url.href}>
        {children}
      </a>
      {!namesHost(text, url) && <span class="dim"> ({url.host})</span>}
    </>
  )
}

const address = /(https?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}])/

/** Untrusted plain text, with web addresses as links. */
export const PlainText = ({ text }: { text: string }): VNode => (
  <span class="said" dir="auto">
    {text.split(address).map((part, index) =>
      index % 2 === 0 ? (
        part
      ) : (
        <Link key={index} link={{ href: part, raw: part, text: part }}>
          {part}
        </Link>
      ),
    )}
  </span>
)
