import type { createLowlight } from 'lowlight'
import type { ComponentChildren, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { type CodeToken, countText } from '../../model/index.js'
import { lazyHook } from './lazy.js'
import { useOpened } from './opened.js'
import { CopyButton } from './parts.js'

/** Maximum lines of a folded block. */
const maxLines = 24

/** A block of code with language and copy button; folded at first if it is long. */
export function CodeBlock({ text, language = '' }: { text: string; language?: string | undefined }): VNode {
  const [isWhole, toggle] = useOpened(`code ${language} ${text.length} ${text.slice(0, 200)}`)
  const lines = useMemo(() => text.split('\n'), [text])
  const isCut = lines.length > maxLines && !isWhole
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language}</span>
        <CopyButton text={text} what="the code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it. */}
      <pre dir="ltr" tabIndex={0} class={isCut ? 'cut' : ''}>
        <Code text={isCut ? lines.slice(0, maxLines).join('\n') : text} language={language || undefined} />
      </pre>
      {lines.length > maxLines && (
        <button type="button" class="link" aria-expanded={isWhole} onClick={toggle}>
          {isWhole ? 'Show less' : `Show all ${countText(lines.length, 'line')}`}
        </button>
      )}
    </figure>
  )
}

type Highlighter = ReturnType<typeof createLowlight>

const useHighlighter = lazyHook(
  () => import('lowlight').then(({ common, createLowlight }) => createLowlight(common)),
  'code shows without colours:',
)

/** Maximum characters of highlighted code. */
const maxHighlightedChars = 50_000

type Highlight = (text: string, language: string) => readonly CodeToken[] | undefined

/** The highlighter, imported when first needed. */
export function useHighlight(isNeeded: boolean): Highlight | undefined {
  const loaded = useHighlighter(isNeeded)
  return useMemo(() => loaded && createHighlight(loaded), [loaded])
}

const createHighlight =
  (reader: Highlighter): Highlight =>
  (text, language) =>
    text.length <= maxHighlightedChars && reader.registered(language)
      ? reader.highlight(language, text).children.flatMap((child) => flatten(child, ''))
      : undefined

type Node = ReturnType<Highlighter['highlight']>['children'][number]

function flatten(node: Node, kind: string): readonly CodeToken[] {
  if (node.type === 'text') return [{ text: node.value, kind }]
  if (node.type !== 'element') return []
  const { className } = node.properties
  const inner = Array.isArray(className) ? [kind, ...className].join(' ').trim() : kind
  return node.children.flatMap((child) => flatten(child as Node, inner))
}

/** Highlighted code. It is never interpreted as HTML. */
export function Code({ text, language }: { text: string; language: string | undefined }): VNode {
  const highlight = useHighlight(language !== undefined)
  const tokens = useMemo(() => language && highlight?.(text, language), [highlight, text, language])
  return <>{tokens ? tokens.map(drawToken) : text}</>
}

export const drawToken = ({ text, kind }: CodeToken, at: number): ComponentChildren =>
  kind === '' ? (
    text
  ) : (
    <span key={at} class={kind}>
      {text}
    </span>
  )
