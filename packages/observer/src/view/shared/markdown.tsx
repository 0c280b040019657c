import type { Lexer, MarkedToken, Token, Tokens } from 'marked'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { namesHost } from '../../model/index.js'
import { Said } from './parts.js'

/** Characters of a text that is read as Markdown, and how deep it may be nested; what is beyond shows as written. */
const [maxMarkdownChars, maxDepth] = [4000, 8]

let lexer: typeof Lexer | undefined

/** What reads Markdown is loaded when there is some for the first time. */
function useLexer(): typeof Lexer | undefined {
  const [loaded, setLoaded] = useState(() => lexer)
  useEffect(() => {
    if (loaded !== undefined) return
    import('marked').then(
      ({ Lexer }) => {
        lexer = Lexer
        setLoaded(() => Lexer)
      },
      (error: unknown) => console.info('Markdown shows as it was written:', error),
    )
  }, [loaded])
  return loaded
}

/** Text from others that is Markdown. No HTML and no images come of it, and links lead to web pages alone. */
export function Markdown({ text }: { text: string }): VNode {
  const Reader = useLexer()
  const tokens = useMemo(
    () => (Reader === undefined || text.length > maxMarkdownChars ? undefined : read(Reader, text)),
    [Reader, text],
  )
  if (tokens === undefined) return <Said text={text} />
  return (
    <div class="said markdown" dir="auto">
      <All tokens={tokens} depth={0} />
    </div>
  )
}

function read(Reader: typeof Lexer, text: string): readonly Token[] | undefined {
  try {
    return new Reader({ gfm: true }).lex(text)
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

function One({ token, depth }: { token: MarkedToken; depth: number }): ComponentChildren {
  const inner = 'tokens' in token && <All tokens={token.tokens} depth={depth} />
  switch (token.type) {
    case 'paragraph':
      return <p>{inner}</p>
    case 'heading':
      return <p class="heading-line">{inner}</p>
    case 'blockquote':
      return <blockquote>{inner}</blockquote>
    case 'list':
      return <List list={token} depth={depth} />
    case 'table':
      return <Table table={token} depth={depth} />
    case 'code':
      return <pre dir="ltr">{token.text}</pre>
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
      return null
    default:
      return token.raw
  }
}

function List({ list: { ordered, start, items }, depth }: { list: Tokens.List; depth: number }): VNode {
  const children = items.map(({ tokens }, index) => (
    <li key={index}>
      <All tokens={tokens} depth={depth} />
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>
}

function Table({ table: { header, rows }, depth }: { table: Tokens.Table; depth: number }): VNode {
  const cells = (row: readonly Tokens.TableCell[], Cell: 'th' | 'td'): VNode[] =>
    row.map(({ tokens }, index) => (
      <Cell key={index}>
        <All tokens={tokens} depth={depth} />
      </Cell>
    ))
  return (
    <table>
      <thead>
        <tr>{cells(header, 'th')}</tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>{cells(row, 'td')}</tr>
        ))}
      </tbody>
    </table>
  )
}

/** A link that shows its target; one that is no web address is shown as text. */
function Link({ link: { href, raw, text }, children }: { link: Tokens.Link; children: ComponentChildren }) {
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
