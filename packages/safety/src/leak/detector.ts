import type { LeakAction } from '../settings.js'
import type { Span } from '../span.js'

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
  /**
   * Finds secrets, none twice, where such words are, which ascend, or anywhere. What `isWanted` does not say of what
   * holds a match may be left out, and what ends at `from` or before.
   */
  find(text: string, words: readonly Span[], isWanted: (span: Span) => boolean, from: number): readonly Span[]
}
