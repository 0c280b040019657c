import type { Phase } from '@meup/protocol'
import type { BatchEnd, ReasoningStep, TurnRecord } from '@meup/views'

export interface TurnQuery {
  readonly thread: string
  /** Only turns with a smaller number. */
  readonly before?: number
  readonly limit: number
}

/** Each part that is there narrows it further. */
export interface StepQuery {
  /** Number of a turn; only with `thread`. */
  readonly turn?: number
  readonly thread?: string
  readonly phases?: readonly Phase[]
  /** Whose turns. */
  readonly agents?: readonly string[]
  /** RFC 3339 UTC; `since` is included, `until` is not. */
  readonly since?: string
  readonly until?: string
  /** Only steps made of envelopes with a smaller seq. */
  readonly before?: number
  readonly limit: number
}

/** A step, and the turn that it belongs to. */
export interface AuditStep {
  readonly step: ReasoningStep
  readonly turn: TurnRecord
}

/**
 * Turns and steps of one space, kept beside its log so that nobody has to read all of it again [MEUP-10.4]. Everything in it
 * follows from the log alone.
 */
export interface Projection {
  /** The watermark: last seq that it has taken. */
  readonly seq: number
  /**
   * Takes the log up to `through`, which must be committed. Gives the batches that ended on the way, in the order of the
   * log. Calls are carried out one after another.
   */
  advance(through: number): Promise<readonly BatchEnd[]>
  /** Batches that ended after `after` and not after `through`, in the order of the log. */
  ends(range: { readonly after: number; readonly through: number; readonly limit: number }): Promise<readonly BatchEnd[]>
  /** The newest first. */
  turns(query: TurnQuery): Promise<readonly TurnRecord[]>
  /** The newest first. */
  steps(query: StepQuery): Promise<readonly AuditStep[]>
  /** Keeps what it needs to go on without the rows up to `through`: to be called before the log is pruned. */
  keep(through: number): Promise<void>
  /** Removes turns that ended, and steps that were made, before this time (RFC 3339). Gives the number of steps. */
  prune(before: string): Promise<number>
  /** Throws all of it away and makes it again from the log. */
  rebuild(): Promise<void>
  close(): Promise<void>
}
