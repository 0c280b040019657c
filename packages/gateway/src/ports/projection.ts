import type { Phase } from '@meup/protocol'
import type { SafetySettings } from '@meup/safety'
import type { BatchEnd, ReasoningStep, TurnHeading, TurnRecord } from '@meup/views'

export interface ProjectionOptions {
  /** What of MCP payloads may not be seen in turns and steps [MEUP-6.9]. */
  readonly safety: SafetySettings
  /** Called when something of it was found damaged and is made again; `reason` is for the operator. */
  repaired?(reason: string): void
}

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
  /** RFC 3339 UTC; `since` is included, `until` is not. By the time of the log, which never goes back. */
  readonly since?: string
  readonly until?: string
  /** Only steps made of envelopes with a smaller seq. */
  readonly before?: number
  readonly limit: number
}

/** Turns and jobs as they began; each part that is there narrows it further. */
export interface TrailQuery {
  /** Only what began after the turn with this id. */
  readonly after?: string
  readonly thread?: string
  /** Number of a turn; only with `thread`. */
  readonly turn?: number
  readonly limit: number
}

/** A part of the log, by seqs: `after` is not included, `through` is. */
export interface EndRange {
  readonly after: number
  readonly through: number
  readonly limit: number
}

/** Steps of one turn from a number on. */
export interface StepRange {
  readonly from: number
  readonly limit: number
}

/** A step, and the turn that it belongs to. */
export interface AuditStep {
  readonly step: ReasoningStep
  readonly turn: TurnHeading
}

/**
 * Turns and steps of one space, kept beside its log so that nobody has to read all of it again [MEUP-10.5]. Everything in it
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
  ends(range: EndRange): Promise<readonly BatchEnd[]>
  /** The newest first. */
  turns(query: TurnQuery): Promise<readonly TurnRecord[]>
  /** The newest first. */
  steps(query: StepQuery): Promise<readonly AuditStep[]>
  /** Turns and jobs, the oldest first: by their ids. */
  trail(query: TrailQuery): Promise<readonly TurnRecord[]>
  /** Steps of one turn or job in their order: those from number `from` on. */
  stepsOf(turn: string, range: StepRange): Promise<readonly ReasoningStep[]>
  /** Other rules for what it takes from now on; what it has taken stays as it is. */
  configure(safety: SafetySettings): Promise<void>
  /** Keeps what it needs to go on without the rows up to `through`: to be called before the log is pruned. */
  keep(through: number): Promise<void>
  /** Number of steps that `prune` would remove. */
  older(before: string): Promise<number>
  /** Removes steps that were made before this time (RFC 3339), and turns that nothing changed since. Gives the number of steps. */
  prune(before: string): Promise<number>
  /** Throws all of it away and makes it again from what there is of the log, up to where it was. */
  rebuild(): Promise<void>
  close(): Promise<void>
}
