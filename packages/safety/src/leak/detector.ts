import type { LeakAction } from '../settings.js'
import type { Span } from '../spans.js'

/** The part of a text in which matches count. */
interface Look {
  /** Whether a match in this span counts. Detectors may skip other matches. */
  readonly isWanted: (span: Span) => boolean
  /** Detectors may skip matches that end at or before this offset. */
  readonly from: number
  /** Offset of the boundary between two consecutive texts, if there are two. */
  readonly seam?: number
  /** Whether the first word of the text may be the rest of a word that began in an earlier text. */
  readonly isCut: boolean
}

/**
 * Detects one kind of secret. `reach`, `hasBlanks` and `looksBack` decide how much text around a keyword is searched: a wrong
 * value loses secrets, while a missing one only costs time.
 */
export interface Detector {
  readonly name: string
  readonly action: LeakAction
  /** Keywords around which the detector searches, ignoring case; empty = it searches the whole text. */
  readonly words: readonly string[]
  /** Whether examining one occurrence of a keyword takes a microsecond at most. */
  readonly isQuick?: boolean
  /** Minimum number of consecutive non-blank characters of a match, from the keyword on; absent = unknown. */
  readonly reach?: number
  /** Whether a match may contain blanks after the keyword; absent = yes. */
  readonly hasBlanks?: boolean
  /** Whether text before the keyword matters; absent = yes. */
  readonly looksBack?: boolean
  /** Whether it recognizes a secret by the label before it, such as `password:`; absent = no, by the secret's own form. */
  readonly isLabelled?: boolean
  /** Whether matches begin with one of the keywords; absent = no. */
  readonly beginsSecrets?: boolean
  /** Finds secrets around the occurrences `words` of its keywords, sorted by start; without keywords, in the whole text. */
  find(text: string, words: readonly Span[], look: Look): readonly Span[]
}

/** The last hyphens of a PEM key, `-----END …-----`: the secret ends with them, even if token characters follow. */
const footerEnd = '----'

/** Returns the end of the token around `end`: a pattern may stop earlier, but no part of a token may remain visible. */
export const endOfToken = (text: string, end: number): number =>
  text.endsWith(footerEnd, end) ? end : (matchAt(/(?<=[\w-])[\w-]*/y, text, end) ?? end)

/** Maximum characters of a label, such as `password: `. */
const maxLabelChars = 64

/**
 * Returns the position after a match at which to continue the search. A labelled secret may end in another label: `key:
 * password: …`.
 */
export function behindMatch(text: string, start: number, secret: Span, isFound: boolean): number {
  const end = isFound ? endOfToken(text, secret.end) : secret.end
  return secret.start > start ? Math.max(secret.start, end - maxLabelChars) : Math.max(start + 1, end)
}

/** Matches a sticky expression at a position. Returns the end of the match. */
export function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
