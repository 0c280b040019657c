import type { OutboundBatch } from '../core/delivery/outbound-batch.js'

/** One client's line to the gateway; a socket, or its equal in memory. */
export interface Connection {
  /** Address of the peer, for limits and the operator's log. */
  readonly remote: string
  /** Bytes that were sent and that the peer has not taken yet. */
  readonly pending: number
  /** Nothing that is sent arrives any more. */
  readonly isGone: boolean
  send(outboundBatch: OutboundBatch): void
  /** Resolves when little of what was sent still waits, or when the connection is gone. */
  drained(): Promise<void>
  /** Sends what waits, then closes. */
  close(code: number, reason: string): void
}

/** A line that only shows what happens. What is not logged it leaves out. */
export interface Feed extends Connection {
  /** Said first where the reader's place is not in this log: everything follows, from seq `from` to `to` and on. */
  lost(place: { readonly epoch: string; readonly from: number; readonly to: number }): void
}
