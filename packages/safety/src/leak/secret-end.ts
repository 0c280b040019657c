import type { Span } from '../span.js'

const ofToken = /[\w-]/
/** How the footer of a key ends: behind it something else begins. */
const footerEnd = '----'

/** A pattern may stop short: of a token, nothing is left. */
export function endOfToken(text: string, end: number): number {
  if (text.endsWith(footerEnd, end)) return end
  let at = end
  if (ofToken.test(text.charAt(end - 1))) while (ofToken.test(text.charAt(at))) at++
  return at
}

/** Characters of a label, at most. */
const longestLabel = 64

/** Where to go on behind a match and its secret: what has a label may end in the label of another, `key: password: …`. */
export function behindMatch(text: string, start: number, secret: Span, isFound: boolean): number {
  const end = isFound ? endOfToken(text, secret.end) : secret.end
  return secret.start > start ? Math.max(secret.start, end - longestLabel) : Math.max(start + 1, end)
}
