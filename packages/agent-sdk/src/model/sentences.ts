/** Ends of sentences: a mark and what follows it, or a line's end. */
const sentenceEnd = /[.!?…]["')\]*_]*\s|[。！？]|\n/g
/** Less than this, some ten tokens, is no part of a sentence worth saying by itself. */
const fewest = 40

/**
 * How much of a text that is still growing can be said: its whole sentences; of a first sentence that takes long, its
 * whole words. 0 = nothing yet.
 */
export function sayable(text: string): number {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length)
  const last = ends.findLast((end) => text.slice(0, end).trim() !== '')
  if (last !== undefined) return last
  const words = text.search(/\s\S*$/)
  return words >= fewest ? words : 0
}
