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
  /** What it finds is in matches that begin where these words do. */
  readonly isAtWords?: boolean
  /** Sticky. It only looks closer at those words where this matches, at their start. */
  readonly glance?: RegExp
  /** Finds secrets, none twice, where such words are, which ascend, or anywhere. */
  find(text: string, words: readonly Span[], look: Look): readonly Span[]
}
