import {
  type FoldedTurn,
  getReportedDecisions,
  type JobReasoning,
  type ReasoningUpdate,
  reasoningEvent,
  type Source,
} from '@meup/folds'
import { type Audience, mayRead, type Reader } from '../core/may-read.js'

/** An event about a batch of calls that has ended. */
export interface TurnViewEvent {
  readonly seq: number
  readonly event: ReasoningUpdate | JobReasoning
  /** The envelopes that made the calls of the event. */
  readonly said: readonly Source[]
}

/** The events of a turn about its ended batches of calls. `events`: by the key of `classifyReader`. */
export interface TurnEvents {
  readonly audiences: readonly NonNullable<Audience>[]
  readonly events: ReadonlyMap<string, readonly TurnViewEvent[]>
  /** Number of envelopes that were folded again for readers who may not read all of them. */
  readonly folded: number
}

export const unread = '0'

/** A key that is equal for readers who may read the same of the envelopes with these audiences. */
export const classifyReader = (reader: Reader, audiences: TurnEvents['audiences']): string =>
  audiences.map((audience) => (mayRead(reader, audience) ? '1' : unread)).join('')

/** The event of a turn in which a batch of calls has just ended, as a list; empty if there is no event. */
export function createTurnEvents({ record, seq }: FoldedTurn): TurnViewEvent[] {
  const event = reasoningEvent(record)
  return event === undefined
    ? []
    : [{ seq, event, said: getReportedDecisions(record).map(({ source }) => source) }]
}
