import type { SubscribePayload, WorkMeter } from '@meup/protocol'
import type { Message } from '../ports/connection.js'

/** Whoever hands envelopes in: a connection, or an HTTP request. */
export interface Sender {
  readonly participant: string
  /** Whose buckets pay: the participant, or a guest's address. */
  readonly rateLimitKey: string
  /** Sends a frame to this sender alone. */
  reply(message: Message): void
  /** An entry this sender knows already, unless it is still to come on this line anyway. */
  echo(seq: number, message: Message): void
  /** Changes what this line shows, as the envelope `id` asks, and gives the bytes of the answer; absent where there is no line. */
  readonly subscribe?: (asked: SubscribePayload, id: string, meter: WorkMeter) => number
}
