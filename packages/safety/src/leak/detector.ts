import type { LeakAction } from '../settings.js'
import type { Span } from '../span.js'

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
  /** What it finds begins with one of these words. */
  readonly beginsSecrets?: boolean
  /** Finds secrets where such words are, in the order of their starts, or anywhere. */
  find(text: string, words: readonly Span[], look: Look): readonly Span[]
}
