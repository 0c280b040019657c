import type { Collector } from '../collector.js'
import { isFilled, type Json, records } from '../json.js'

export type DetailsReader = (details: unknown) => void
type Detail = Record<string, unknown>

/**
 * Reads `reasoning_details`, which OpenRouter wants back as they are. In a stream each comes in pieces that have the same
 * `type` and `index`; the signature is a piece of its own.
 */
export function detailsReader(collector: Collector): DetailsReader {
  let last: Detail = {}
  return (details) => {
    if (!Array.isArray(details)) return
    for (const piece of records(details)) {
      if (goesOn(last, piece)) append(last, piece)
      else {
        last = { ...piece }
        collector.opaque(last)
      }
      if (isFilled(piece.signature) || isFilled(piece.data)) collector.sealed('reasoning_details')
      const text = [piece.text, piece.summary].find(isFilled) ?? ''
      collector.reasoning('reasoning_details', text, `${piece.type} ${piece.index}`)
    }
  }
}

const goesOn = (last: Detail, piece: Json): boolean =>
  typeof piece.index === 'number' &&
  piece.index === last.index &&
  piece.type === last.type &&
  !('data' in piece)

function append(last: Detail, piece: Json): void {
  for (const [name, value] of Object.entries(piece)) {
    const known = last[name]
    const isText = name === 'text' || name === 'summary'
    if (isText && typeof known === 'string' && typeof value === 'string') last[name] = known + value
    else if (isFilled(value) || known === undefined) last[name] = value
  }
}
