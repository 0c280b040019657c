import { lastFrom, type Span } from '../spans.js'

/** A text after decoding, with a mapping to the original text. */
export interface Decoding {
  readonly text: string
  /** Spans of the decoded text that the decoder has changed. */
  readonly changes: readonly Span[]
  /** Maps a span of the decoded text to the span of the original text that it comes from. */
  origin(span: Span): Span
}

/** The replacement of a span by its decoded text. Decoders return them sorted, without overlaps. */
export interface Replacement extends Span {
  readonly by: string
}

export type Decoder = (text: string) => readonly Replacement[]

/** The result of a decoder for a text without encodings. */
export const unchanged: readonly Replacement[] = []

export const asWritten = (text: string): Decoding => ({ text, changes: [], origin: (span) => span })

/** Applies a decoder; returns the same object if there is nothing to decode. */
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

/** Decodes a text without keeping the mapping to the original. */
export const decodeText = (text: string, decoder: Decoder): string => decode(asWritten(text), decoder).text

/** A part of the decoded text, from `start` on: a copy of its source, or a replacement. */
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
