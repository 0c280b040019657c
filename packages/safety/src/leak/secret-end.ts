import type { Span } from '../span.js'
import { matchAt } from './match-at.js'

/** How the footer of a key ends: behind it something else begins. */
const footerEnd = '----'

/** A pattern may stop short: of a token, nothing is left. */
export const endOfToken = (text: string, end: number): number =>
  text.endsWith(footerEnd, end) ? end : (matchAt(/(?<=[\w-])[\w-]*/y, text, end) ?? end)

/** Characters of a label, at most. */
const longestLabel = 64

/** Where to go on behind a match and its secret: what has a label may end in the label of another, `key: password: …`. */
export function behindMatch(text: string, start: number, secret: Span, isFound: boolean): number {
  const end = isFound ? endOfToken(text, secret.end) : secret.end
  return secret.start > start ? Math.max(secret.start, end - longestLabel) : Math.max(start + 1, end)
}
