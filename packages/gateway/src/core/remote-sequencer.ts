import type { Receipt, Refusal } from './admission/context.js'
import type { Sender } from './sender.js'

/** The gateway that sequences a space, as the others see it. */
export interface RemoteSequencer {
  /** Whether this is a frame for it; what changes a connection alone stays with that. */
  isFor(frame: Uint8Array): boolean
  /** Answers the sender as `Space.submit` does. */
  submit(sender: Sender, frame: Uint8Array, isBinary: boolean): Promise<Receipt | Refusal>
  /** Logs an envelope of the gateway's own. Gives its seq; rejects when it was not taken. */
  emit(fields: object): Promise<number>
  /** Whoever is present here has changed. */
  present(): void
}
