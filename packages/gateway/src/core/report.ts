import type { Space } from './space.js'
import type { SpaceMetrics } from './space-metrics.js'

/** How a space is doing, for its operator. */
export interface SpaceReport {
  readonly space: string
  /** Why nothing is admitted at present; `undefined` = all is well. */
  readonly stopped: string | undefined
  /** Last seq that was delivered. */
  readonly head: number
  readonly connections: number
  /** Bytes that clients have not taken yet. */
  readonly unsentBytes: number
  /** What is admitted, and not on its way to the log yet. */
  readonly waiting: { readonly envelopes: number; readonly bytes: number }
  /** Delivered envelopes that the index of turns has still to take. */
  readonly unindexed: number
  readonly tally: SpaceMetrics
}

/** `indexed`: last seq that the index of turns has. */
export function reportOf(
  { config, stopped, delivered, sessions, waiting, tally }: Space,
  indexed: number,
): SpaceReport {
  let unsentBytes = 0
  for (const { connection } of sessions) unsentBytes += connection.pending
  return {
    space: config.name,
    stopped,
    head: delivered,
    connections: sessions.size,
    unsentBytes,
    waiting,
    unindexed: delivered - indexed,
    tally,
  }
}
