import type { Ref, VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { colourLines, cutTokens, type DiffLine, languageOf, markWords } from '../../model/index.js'
import { drawToken, useHighlight } from './code.js'
import { End } from './parts.js'

const signs = { '+': 'added', '-': 'removed', ' ': '', '@': 'place' } as const

/** Lines of a folded text or change. */
export const maxLines = 30

interface DiffViewProps {
  readonly lines: readonly DiffLine[]
  /** Path of the changed file, unless the lines name it. */
  readonly path?: string
  readonly isWhole?: boolean
  readonly box?: Ref<HTMLPreElement>
}

/** Old and new text, line by line. */
export function DiffView({ lines, path, isWhole = true, box }: DiffViewProps): VNode {
  const words = useMemo(() => markWords(lines), [lines])
  const highlight = useHighlight([path, ...lines.map(headOf)].some((each) => languageOf(each)))
  const colours = useMemo(() => colourLines(lines, path, highlight), [lines, path, highlight])
  const isNumbered = lines.some(({ line }) => line !== undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys have to reach it.
    <pre class={`code diff ${isNumbered ? 'numbered' : ''}`} dir="ltr" tabIndex={0} ref={box ?? null}>
      {lines.slice(0, isWhole ? lines.length : maxLines).map((line, index) => (
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
  )
}

const headOf = ({ sign, text }: DiffLine): string | undefined => (sign === '@' ? text : undefined)
