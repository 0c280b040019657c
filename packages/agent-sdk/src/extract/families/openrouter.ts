import type { Collector } from '../collector.js'
import { isFilled, type Json, records } from '../json.js'

/** `isWhole`: these are no pieces. */
export type DetailsReader = (details: unknown, isWhole: boolean) => void
type Detail = Record<string, unknown>

/**
 * Reads `reasoning_details`, which OpenRouter wants back as they are. In a stream each comes in pieces that have the same
 * `type` and `index`; the signature is a piece of its own, and may come after the next detail.
 */
export function detailsReader(collector: Collector): DetailsReader {
  const all: Detail[] = []

  function detailOf(piece: Json): number {
    const last = all.length - 1
    if (isFilled(piece.data)) return -1
    // Where there are no numbers, a signature ends a detail.
    const isOver = piece.index === undefined && isFilled(all[last]?.signature)
    if (isText(piece)) return !isOver && goesOn(all[last], piece) ? last : -1
    return all.findLastIndex((each) => goesOn(each, piece))
  }

  return (details, isWhole) => {
    if (!Array.isArray(details)) return
    for (const piece of records(details)) {
      let place = isWhole ? -1 : detailOf(piece)
      const known = all[place]
      if (known === undefined) {
        const begun = { ...piece }
        place = all.push(begun) - 1
        collector.opaque(begun)
      } else append(known, piece)
      if (isFilled(piece.signature) || isFilled(piece.data)) collector.sealed('reasoning_details')
      const text = [piece.text, piece.summary].find(isFilled) ?? ''
      collector.reasoning('reasoning_details', text, place)
    }
  }
}

const isText = ({ text, summary }: Json): boolean => isFilled(text) || isFilled(summary)

const goesOn = (known: Json | undefined, { type, index, id }: Json): boolean =>
  known !== undefined &&
  type === known.type &&
  index === known.index &&
  !isFilled(known.data) &&
  !(isFilled(id) && isFilled(known.id) && id !== known.id)

function append(known: Detail, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    const told = known[name]
    const isText = name === 'text' || name === 'summary'
    if (isText && typeof told === 'string' && typeof value === 'string') known[name] = told + value
    else if (isFilled(value) || told === undefined) known[name] = value
  }
}
