import type { AnyEnvelope, WelcomePayload } from '@meup/protocol'

/** The connection a welcome belongs to. */
export interface WelcomeInfo {
  /** Whether this is the first welcome of its connection. */
  readonly isFirst: boolean
  /** When the gateway sent it, RFC 3339. */
  readonly ts: string
  /** The subscription change that it answers. */
  readonly answers: string | undefined
}

/** A part of a client. Each event goes to all parts, in the order in which they were added. */
export interface ClientHandler {
  /** `frame`: the envelope as received. After `true` no other part and no listener sees the envelope. */
  onEnvelope?(envelope: AnyEnvelope, frame: string): unknown
  onWelcome?(welcome: WelcomePayload, info: WelcomeInfo): void
  /** The connection is closed and will not be restored. */
  onClose?(reason: Error): void
}
