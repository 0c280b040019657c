import type { Span } from '../span.js'
import { phraseStart, wordEnd } from '../surroundings.js'
import { decode, type Replacement, type View } from './view.js'

/** Characters on both sides of a change that may be of one secret with it, beside the rest of words. */
const sight = 256

/** A view with its changes and their surroundings alone: what lies between has been read before. */
export const excerpt = (view: View): View => decode(view, (text) => gaps(text, view.changes))

/** What lies between becomes the end of a line. */
function gaps(text: string, changes: readonly Span[]): Replacement[] {
  const between: Replacement[] = []
  let read = 0
  for (const change of changes) {
    const start = phraseStart(text, change.start - sight, read)
    if (start > read) between.push({ start: read, end: start, by: '\n' })
    if (change.end + sight > read) read = wordEnd(text, change.end + sight)
  }
  if (read < text.length) between.push({ start: read, end: text.length, by: '\n' })
  return between
}
