import {
  type FoldedTurn,
  getReportedDecisions,
  type JobReasoning,
  type ReasoningUpdate,
  reasoningEvent,
  type Source,
} from '@meup/folds'
import { type Audience, mayRead, type Reader } from '../core/may-read.js'

/** What a batch of calls came to, when it had ended. */
export interface TurnEvent {
  readonly seq: number
  readonly event: ReasoningUpdate | JobReasoning
  /** Where the calls that it tells of were made. */
  readonly said: readonly Source[]
}

/** Events of a turn, by the kinds of readers that there are. */
export interface TurnEvents {
  readonly audiences: readonly NonNullable<Audience>[]
  readonly events: ReadonlyMap<string, readonly TurnEvent[]>
  /** Envelopes that were folded anew for those who may not read all of them. */
  readonly folded: number
}

export const unread = '0'

/** Readers who may read the same of some envelopes are of one kind. */
export const classifyReader = (reader: Reader, audiences: TurnEvents['audiences']): string =>
  audiences.map((audience) => (mayRead(reader, audience) ? '1' : unread)).join('')

/** What is told of a turn in which a batch has just ended. */
export function createTurnEvents({ record, seq }: FoldedTurn): TurnEvent[] {
  const event = reasoningEvent(record)
  return event === undefined
    ? []
    : [{ seq, event, said: getReportedDecisions(record).map(({ source }) => source) }]
}
