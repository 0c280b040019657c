import { diffArrays } from 'diff'
import type { DiffLine } from './change.js'

/** A piece of a line; `isChanged`: the line that it replaces, or that replaces it, does not have the piece. */
export interface WordPiece {
  readonly text: string
  readonly isChanged: boolean
}

/** Maximum characters of a line, and lines of a change, that are compared word by word. */
const [maxLineChars, maxLines] = [400, 20]
/** Minimum share of common text; below it, a line counts as replaced rather than changed. */
const minCommon = 0.3

const splitWords = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|./gu) ?? []

/** Marks changed words of each line that replaces another one; no entry for other lines. */
export function markWords(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, readonly WordPiece[]> {
  const pieces = new Map<DiffLine, readonly WordPiece[]>()
  for (let at = 0; at < lines.length; at++) {
    const removed = takeWhile(lines, at, '-')
    const added = takeWhile(lines, at + removed.length, '+')
    if (removed.length > 0 && removed.length === added.length && removed.length <= maxLines) {
      for (const [index, old] of removed.entries()) {
        const now = added[index]
        const compared = now && compareWords(old.text, now.text)
        if (now === undefined || compared === undefined) continue
        pieces.set(old, compared[0])
        pieces.set(now, compared[1])
      }
    }
    at += Math.max(removed.length + added.length - 1, 0)
  }
  return pieces
}

function takeWhile(lines: readonly DiffLine[], from: number, sign: DiffLine['sign']): readonly DiffLine[] {
  let end = from
  while (lines[end]?.sign === sign) end++
  return lines.slice(from, end)
}

function compareWords(old: string, now: string): readonly [WordPiece[], WordPiece[]] | undefined {
  if (Math.max(old.length, now.length) > maxLineChars) return undefined
  const parts = diffArrays(splitWords(old), splitWords(now))
  const toPieces = (side: 'added' | 'removed'): WordPiece[] =>
    parts.flatMap((part): WordPiece[] => {
      const isChanged = part.added || part.removed
      return isChanged && !part[side] ? [] : [{ text: part.value.join(''), isChanged }]
    })
  const common = parts.flatMap(({ added, removed, value }) => (added || removed ? [] : value)).join('')
  if (common.trim().length < minCommon * Math.max(old.trim().length, now.trim().length)) return undefined
  return [toPieces('removed'), toPieces('added')]
}
