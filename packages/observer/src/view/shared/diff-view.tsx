import type { RefObject, VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  colourLines,
  countText,
  cutTokens,
  type DiffLine,
  getLanguage,
  markWords,
} from '../../model/index.js'
import { drawToken, useHighlight } from './code.js'
import { End } from './parts.js'

const signs = { '+': 'added', '-': 'removed', ' ': '', '@': 'place' } as const

/** Maximum lines of a folded text or diff. */
export const maxFoldedLines = 30

interface DiffViewProps {
  readonly lines: readonly DiffLine[]
  /** Path of the changed file; absent if the lines name it. */
  readonly path?: string
  readonly isWhole?: boolean
  readonly box?: RefObject<HTMLPreElement>
}

/** A diff, line by line. */
export function DiffView({ lines, path, isWhole = true, box }: DiffViewProps): VNode {
  const words = useMemo(() => markWords(lines), [lines])
  const highlight = useHighlight([path, ...lines.map(headOf)].some((each) => getLanguage(each)))
  const colours = useMemo(() => colourLines(lines, path, highlight), [lines, path, highlight])
  const isNumbered = lines.some(({ line }) => line !== undefined)
  const own = useRef<HTMLPreElement>(null)
  const place = box ?? own
  const below = useLinesBelow(place)
  return (
    <div class="diff-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it. */}
      <pre class={`code diff ${isNumbered ? 'numbered' : ''}`} dir="ltr" tabIndex={0} ref={place}>
        {lines.slice(0, isWhole ? lines.length : maxFoldedLines).map((line, index) => (
          <span key={index} class={signs[line.sign]} data-line={line.line}>
            {line.sign === '@' ? ' ' : line.sign}
            {cutTokens(colours.get(line), words.get(line) ?? [{ text: line.text, isChanged: false }]).map(
              (token, at) =>
                token.isChanged ? (
                  <b key={at} class={token.kind}>
                    {token.text}
                  </b>
                ) : (
                  drawToken(token, at)
                ),
            )}
            {'\n'}
          </span>
        ))}
        <End />
      </pre>
      {below > 0 && (
        <button
          type="button"
          class="link"
          onClick={() => place.current?.scrollTo(0, place.current.scrollHeight)}
        >
          {countText(below, 'more line')} ↓
        </button>
      )}
    </div>
  )
}

/** Number of lines below the visible part of a box. */
function useLinesBelow(box: RefObject<HTMLElement>): number {
  const [below, setBelow] = useState(0)
  useEffect(() => {
    const { current: element } = box
    if (element === null) return
    const lineHeight = Number.parseFloat(getComputedStyle(element).lineHeight)
    const look = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = element
      setBelow(Math.round((scrollHeight - scrollTop - clientHeight) / lineHeight))
    }
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look)
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [])
  return below
}

const headOf = ({ sign, text }: DiffLine): string | undefined => (sign === '@' ? text : undefined)
