import type { createLowlight } from 'lowlight'
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'

type Highlighter = ReturnType<typeof createLowlight>
type Tree = ReturnType<Highlighter['highlight']>
type Child = Tree['children'][number]

let highlighter: Highlighter | undefined

/** What knows the languages is loaded when there is some code for the first time. */
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

/** Characters that are highlighted; longer code shows without colours. */
const maxHighlightedChars = 50_000

/** Code in the colours of its language, as elements: nothing of it is read as HTML. */
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
