import type { Envelope } from '@meup/protocol'

/**
 * A view computed from a log. `apply` takes its envelopes once each, in log order; the same log always gives the same view. Its
 * memory is bounded, however long the log is.
 */
export interface Fold<Change, Snapshot> {
  /** Seq of the last applied envelope; 0 = none. */
  readonly seq: number
  /**
   * Applies the next envelope. A repeated envelope (the echo of a retry), or one without `seq`, changes nothing. The result
   * belongs to the fold: read it before the next envelope, and do not change it.
   */
  apply(envelope: Envelope): Change
  /** The state of the fold as JSON. Serialize it before the next envelope, because it shares objects with the fold. */
  snapshot(): Snapshot
  /** Restores a snapshot; only before the first `apply`. */
  restore(snapshot: Snapshot): void
}

/** The seq up to which a fold has applied the log. */
export class FoldProgress {
  seq = 0

  /** Moves to this envelope; `false` if it is not in the log or was applied before. */
  advance({ seq }: Envelope): boolean {
    if (seq === undefined || seq <= this.seq) return false
    this.seq = seq
    return true
  }
}
