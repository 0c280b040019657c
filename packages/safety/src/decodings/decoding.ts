import { lastFrom, type Span } from '../spans.js'

/** One way to read a text. */
export interface Decoding {
  readonly text: string
  /** Where it differs from what it was read from, in its own text. */
  readonly changes: readonly Span[]
  /** Where in the original text the characters of this reading come from. */
  origin(span: Span): Span
}

/** What a decoder reads in place of the characters from `start` to `end`; ordered, and never overlapping. */
export interface Replacement extends Span {
  readonly by: string
}

export type Decoder = (text: string) => readonly Replacement[]

/** Of a text in which there is nothing to decode. */
export const unchanged: readonly Replacement[] = []

export const asWritten = (text: string): Decoding => ({ text, changes: [], origin: (span) => span })

/** Reads a view with a decoder; the same view where there is nothing to decode. */
export function decode(view: Decoding, decoder: Decoder): Decoding {
  const replacements = decoder(view.text)
  if (replacements.length === 0) return view
  const pieces: Piece[] = []
  const changes: Span[] = []
  let text = ''
  let read = 0
  const add = (start: number, end: number, by: string, isCopy: boolean): void => {
    pieces.push({ start: text.length, source: { start, end }, isCopy })
    text += by
  }
  for (const { start, end, by } of replacements) {
    if (start > read) add(read, start, view.text.slice(read, start), true)
    changes.push({ start: text.length, end: text.length + by.length })
    if (by !== '') add(start, end, by, false)
    read = end
  }
  if (read < view.text.length) add(read, view.text.length, view.text.slice(read), true)
  return { text, changes, origin: (span) => view.origin(originIn(pieces, span)) }
}

/** What a decoder reads, without the way back. */
export const decodeText = (text: string, decoder: Decoder): string => decode(asWritten(text), decoder).text

/** A part of a view, from `start` on: a copy of its source, character by character, or what stands for all of it. */
interface Piece {
  readonly start: number
  readonly source: Span
  readonly isCopy: boolean
}

function originIn(pieces: readonly Piece[], { start, end }: Span): Span {
  const first = lastFrom(pieces, start)
  const last = lastFrom(pieces, end - 1)
  if (first === undefined || last === undefined) throw new RangeError('an empty view has no characters')
  return {
    start: first.source.start + (first.isCopy ? start - first.start : 0),
    end: last.isCopy ? last.source.start + end - last.start : last.source.end,
  }
}
