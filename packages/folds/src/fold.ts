import type { Envelope } from '@meup/protocol'

/**
 * A view that grows with the log. It is told every envelope once, with its `seq`, in log order; the same log always
 * gives the same view. What it holds is bounded, however long the log is.
 */
export interface Fold<Change, Snapshot> {
  /** Last `seq` that was taken; 0 = none. Go on after it. */
  readonly seq: number
  /**
   * Takes the next envelope. One that was taken before (a retry's echo), or that is not in the log, changes nothing.
   * What is returned belongs to the fold: read it before the next envelope, and do not change it.
   */
  apply(envelope: Envelope): Change
  /** All that the fold knows, as JSON. To be serialised at once. */
  snapshot(): Snapshot
  /** Takes what `snapshot` gave; only for a fold that has taken nothing yet. */
  restore(snapshot: Snapshot): void
}

/** How far a fold has come in the log. */
export class Progress {
  seq = 0

  /** Whether this envelope is the next one. */
  advance({ seq }: Envelope): boolean {
    if (seq === undefined || seq <= this.seq) return false
    this.seq = seq
    return true
  }
}
