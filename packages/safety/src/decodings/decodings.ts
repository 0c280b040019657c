import { chargeLooks, chargeReading, type Meter } from '../meter.js'
import { phraseStart, type Span, wordEnd } from '../spans.js'
import { base64, percent, plain, unbroken } from './decoders.js'
import { asWritten, type Decoder, type Decoding, decode, type Replacement } from './decoding.js'

/** Maximum depth of nested encodings. */
const maxDepth = 2
/** Cost factor of scanning decoded text, which is longer: base64 may begin at any of four alignments. */
const costOfDecoding = 28

export interface Decodings {
  readonly certain: readonly Decoding[]
  /** Decoded texts in which lines were joined, possibly by mistake. */
  readonly joined: readonly Decoding[]
}

/** Decodes a text in all ways: returns the text as written, and the surroundings of each change by a decoder. */
export function getDecodings(text: string, meter: Meter): Decodings {
  const written = asWritten(text)
  const readable = read(written, plain, meter)
  const joined = read(readable, unbroken, meter)
  return {
    certain: [written, ...different(readable, written, meter), ...decodings(readable, meter)],
    joined: joined === readable ? [] : [...different(joined, readable, meter), ...decodings(joined, meter)],
  }
}

function decodings(view: Decoding, meter: Meter, depth = 1): Decoding[] {
  const spelled = read(view, percent, meter, 'encoding')
  const decoded = read(spelled, base64, meter, 'encoding')
  const here = [...different(spelled, view, meter), ...different(decoded, spelled, meter)]
  return here.length === 0 || depth === maxDepth ? here : [...here, ...decodings(decoded, meter, depth + 1)]
}

function read(
  view: Decoding,
  decoder: Decoder,
  meter: Meter,
  what: 'change' | 'encoding' = 'change',
): Decoding {
  chargeReading(meter, view.text.length / 4)
  const decoded = decode(view, decoder)
  if (decoded === view) return view
  chargeLooks(meter, decoded.changes.length, what)
  if (what === 'encoding') {
    const characters = decoded.changes.reduce((sum, { start, end }) => sum + end - start, 0)
    chargeReading(meter, costOfDecoding * characters)
  }
  return decoded
}

function different(view: Decoding, source: Decoding, meter: Meter): Decoding[] {
  if (view === source) return []
  chargeReading(meter, view.text.length)
  return [excerpt(view)]
}

/** Characters before and after a decoded part that may belong to the same secret, besides the rest of a word. */
const contextChars = 256

/** Reduces a decoded text to the decoded parts and their surroundings, because the unchanged rest is scanned anyway. */
const excerpt = (view: Decoding): Decoding => decode(view, (text) => gaps(text, view.changes))

/** Replaces the text between the decoded parts and their surroundings by a line break. */
function gaps(text: string, changes: readonly Span[]): Replacement[] {
  const between: Replacement[] = []
  let read = 0
  for (const change of changes) {
    const start = phraseStart(text, change.start - contextChars, read)
    if (start > read) between.push({ start: read, end: start, by: '\n' })
    if (change.end + contextChars > read) read = wordEnd(text, change.end + contextChars)
  }
  if (read < text.length) between.push({ start: read, end: text.length, by: '\n' })
  return between
}
