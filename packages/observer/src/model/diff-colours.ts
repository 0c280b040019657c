import type { DiffLine } from './change.js'
import type { WordPiece } from './diff-words.js'
import { getLanguage } from './highlight-language.js'

/** A token of highlighted code; `kind`: its CSS classes. */
export interface CodeToken {
  readonly text: string
  readonly kind: string
}

/** Highlights the lines of a diff. Old and new text are parsed separately, because only each of them is valid code. */
export function colourLines(
  lines: readonly DiffLine[],
  path: string | undefined,
  highlight: ((text: string, language: string) => readonly CodeToken[] | undefined) | undefined,
): ReadonlyMap<DiffLine, readonly CodeToken[]> {
  const colours = new Map<DiffLine, readonly CodeToken[]>()
  let language = getLanguage(path)
  let part: DiffLine[] = []
  const colour = (): void => {
    for (const other of ['+', '-']) {
      const side = part.filter(({ sign }) => sign !== other)
      const text = side.map((line) => line.text).join('\n')
      const tokens = language === undefined ? undefined : highlight?.(text, language)
      if (tokens === undefined) continue
      for (const [at, line] of splitLines(tokens).entries()) {
        const { [at]: of } = side
        if (of !== undefined) colours.set(of, line)
      }
    }
    part = []
  }
  for (const line of lines) {
    if (line.sign !== '@') {
      part.push(line)
      continue
    }
    colour()
    language = getLanguage(line.text) ?? language
  }
  colour()
  return colours
}

function splitLines(tokens: readonly CodeToken[]): readonly (readonly CodeToken[])[] {
  const lines: CodeToken[][] = [[]]
  for (const { text, kind } of tokens) {
    for (const [at, each] of text.split('\n').entries()) {
      if (at > 0) lines.push([])
      if (each !== '') lines.at(-1)?.push({ text: each, kind })
    }
  }
  return lines
}

/** Splits a line's tokens where changed words begin or end. */
export function cutTokens(
  tokens: readonly CodeToken[] | undefined,
  pieces: readonly WordPiece[],
): readonly (CodeToken & WordPiece)[] {
  if (tokens === undefined) return pieces.map((piece) => ({ ...piece, kind: '' }))
  const rest = tokens.toReversed()
  return pieces.flatMap(({ text, isChanged }) => {
    const cut: (CodeToken & WordPiece)[] = []
    for (let left = text.length; left > 0; ) {
      const token = rest.pop()
      if (token === undefined) break
      if (token.text.length > left) rest.push({ ...token, text: token.text.slice(left) })
      cut.push({ kind: token.kind, text: token.text.slice(0, left), isChanged })
      left -= token.text.length
    }
    return cut
  })
}
