import type { LeakAction } from '../settings.js'
import type { Span } from '../spans.js'

/** The examined part of a text. */
interface Look {
  /** Whether a match in this span counts; others may be skipped. */
  readonly isWanted: (span: Span) => boolean
  /** Matches that end at or before this may be skipped. */
  readonly from: number
  /** The boundary between two consecutive texts, if there are two. */
  readonly seam?: number
  /** The first word may have begun in an earlier text. */
  readonly isCut: boolean
}

/**
 * Detects one kind of secret. `reach`, `hasBlanks` and `looksBack` decide how much text around a word is searched: a wrong value
 * loses secrets, while a missing one only costs time.
 */
export interface Detector {
  readonly name: string
  readonly action: LeakAction
  /** Searches only around these words, ignoring case; empty = everywhere. */
  readonly words: readonly string[]
  /** Examining one word takes about a microsecond at most. */
  readonly isQuick?: boolean
  /** Minimum number of consecutive non-blank characters of a match, from the word on. */
  readonly reach?: number
  /** Whether a match may contain blanks after the word; absent = yes. */
  readonly hasBlanks?: boolean
  /** Whether text before the word matters; absent = yes. */
  readonly looksBack?: boolean
  /** Its matches begin with one of these words. */
  readonly beginsSecrets?: boolean
  /** Finds secrets around these words, sorted by start, or everywhere. */
  find(text: string, words: readonly Span[], look: Look): readonly Span[]
}

/** The end of the last line of a PEM key, `-----END …-----`: the token ends there, whatever follows. */
const footerEnd = '----'

/** The end of the token: a pattern may stop earlier, but no part of a token may remain. */
export const endOfToken = (text: string, end: number): number =>
  text.endsWith(footerEnd, end) ? end : (matchAt(/(?<=[\w-])[\w-]*/y, text, end) ?? end)

/** Maximum characters of a label. */
const maxLabelChars = 64

/** The position after a match at which to continue: a labelled one may end in another label, `key: password: …`. */
export function behindMatch(text: string, start: number, secret: Span, isFound: boolean): number {
  const end = isFound ? endOfToken(text, secret.end) : secret.end
  return secret.start > start ? Math.max(secret.start, end - maxLabelChars) : Math.max(start + 1, end)
}

/** The end of a sticky expression's match at a position. */
export function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
