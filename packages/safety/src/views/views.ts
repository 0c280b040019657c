import { base64 } from './base64.js'
import { excerpt } from './excerpt.js'
import { percent } from './percent.js'
import { plain } from './plain.js'
import { unbroken } from './unbroken.js'
import { asWritten, decode, type View } from './view.js'

/** So deep encodings in one another are read. */
const deepest = 2

export interface Views {
  readonly certain: readonly View[]
  /** Across lines: here a line may have been read on into the next one by mistake. */
  readonly joined: readonly View[]
}

/** The ways to read a text: as it is written; and where it reads differently in another way, these places. */
export function viewsOf(text: string): Views {
  const written = asWritten(text)
  const readable = decode(written, plain)
  const joined = decode(readable, unbroken)
  return {
    certain: [written, ...different(readable, written), ...decodings(readable)],
    joined: joined === readable ? [] : [excerpt(joined), ...decodings(joined)],
  }
}

function decodings(view: View, depth = 1): View[] {
  const spelled = decode(view, percent)
  const decoded = decode(spelled, base64)
  const here = [...different(spelled, view), ...different(decoded, spelled)]
  return here.length === 0 || depth === deepest ? here : [...here, ...decodings(decoded, depth + 1)]
}

const different = (view: View, source: View): View[] => (view === source ? [] : [excerpt(view)])
