import type { SubscribePayload } from '@meup/protocol'
import type { Message } from '../outbox/parcel.js'

/** Whoever hands envelopes in: a connection, or an HTTP request. */
export interface Sender {
  readonly participant: string
  /** Whose buckets pay: the participant, or a guest's address. */
  readonly payer: string
  /** The bytes of its frames have been charged already, with what they came in. */
  readonly isPrepaid?: boolean
  /** Sends a frame to this sender alone. */
  reply(message: Message): void
  /** An entry this sender knows already, unless it is still to come on this line anyway. */
  echo(seq: number, message: Message): void
  /** Changes what this line shows; absent where there is no line. */
  readonly subscribe?: (asked: SubscribePayload) => void
}
