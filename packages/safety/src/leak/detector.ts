import type { LeakAction } from '../settings.js'
import type { Span } from '../spans.js'

/** What of a text is looked at. */
interface Look {
  /** What holds a match of which this is not so may be left out. */
  readonly isWanted: (span: Span) => boolean
  /** What ends here or before may be left out. */
  readonly from: number
  /** Where one text goes on from another, if the text is of two. */
  readonly seam?: number
  /** The first word may have begun in a text before. */
  readonly isCut: boolean
}

/** What finds one kind of secret. */
export interface Detector {
  readonly name: string
  readonly action: LeakAction
  /** It only looks where one of these words is, in either case; without any, everywhere. */
  readonly words: readonly string[]
  /** A look at a word takes no longer than a microsecond or so. */
  readonly isQuick?: boolean
  /** From a word on, what it finds has so many characters in a row that are no blanks. */
  readonly reach?: number
  /** What it finds may have blanks in it, from a word on; absent = it may. */
  readonly hasBlanks?: boolean
  /** What stands before a word may have a say; absent = it may. */
  readonly looksBack?: boolean
  /** What it finds begins with one of these words. */
  readonly beginsSecrets?: boolean
  /** Finds secrets where such words are, in the order of their starts, or anywhere. */
  find(text: string, words: readonly Span[], look: Look): readonly Span[]
}

/** How the footer of a key ends: behind it something else begins. */
const footerEnd = '----'

/** A pattern may stop short: of a token, nothing is left. */
export const endOfToken = (text: string, end: number): number =>
  text.endsWith(footerEnd, end) ? end : (matchAt(/(?<=[\w-])[\w-]*/y, text, end) ?? end)

/** Characters of a label, at most. */
const maxLabelChars = 64

/** Where to go on behind a match and its secret: what has a label may end in the label of another, `key: password: …`. */
export function behindMatch(text: string, start: number, secret: Span, isFound: boolean): number {
  const end = isFound ? endOfToken(text, secret.end) : secret.end
  return secret.start > start ? Math.max(secret.start, end - maxLabelChars) : Math.max(start + 1, end)
}

/** Where a sticky expression ends that matches at a place. */
export function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
