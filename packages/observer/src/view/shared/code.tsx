import type { createLowlight } from 'lowlight'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { countText } from '../../model/index.js'
import { useOpened } from './opened.js'
import { CopyButton } from './parts.js'

/** Shown lines of a folded block. */
const maxLines = 24

/** A block of code with its language and a button to copy it; folded if long. */
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
type Tree = ReturnType<Highlighter['highlight']>
type Child = Tree['children'][number]

let highlighter: Highlighter | undefined

/** Loads the highlighter with the first block of code. */
function useHighlighter(isNeeded: boolean): Highlighter | undefined {
  const [loaded, setLoaded] = useState(highlighter)
  useEffect(() => {
    if (!isNeeded || loaded !== undefined) return
    import('lowlight').then(
      ({ common, createLowlight }) => {
        highlighter = createLowlight(common)
        setLoaded(highlighter)
      },
      (error: unknown) => console.info('code shows without colours:', error),
    )
  }, [isNeeded, loaded])
  return loaded
}

/** Maximum highlighted characters; longer code is not coloured. */
const maxHighlightedChars = 50_000

/** Highlighted code as elements: nothing in it is interpreted as HTML. */
export function Code({ text, language }: { text: string; language: string | undefined }): VNode {
  const isKnown = language !== undefined && text.length <= maxHighlightedChars
  const reader = useHighlighter(isKnown)
  const tree = useMemo(
    () => (isKnown && reader?.registered(language) ? reader.highlight(language, text) : undefined),
    [reader, text, language],
  )
  return <>{tree === undefined ? text : tree.children.map(draw)}</>
}

function draw(node: Child, index: number): ComponentChildren {
  if (node.type === 'text') return node.value
  if (node.type !== 'element') return null
  const { className } = node.properties
  return (
    <span key={index} class={Array.isArray(className) ? className.join(' ') : ''}>
      {node.children.map((child, at) => draw(child as Child, at))}
    </span>
  )
}
