import type { AnyEnvelope, Capability, WelcomePayload } from '@meup/protocol'
import type { Pause } from './pauses.js'
import type { VisibilityChange } from './runs.js'

/** How the connection stands. */
export type ConnectionStatus =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly inMs: number; readonly reason: string }

export interface SpaceEvents {
  /** The line is there again. */
  connected: []
  /** Every logged envelope this participant gets, in order, and errors that answer nothing it awaits. */
  envelope: [AnyEnvelope]
  /** What is known of the space; again whenever it is told anew. */
  welcome: [WelcomePayload]
  /** This participant may do something else than before: it was given something, or something was taken back. */
  capabilities: [readonly Capability[]]
  /** Somebody has paused this participant [MEUP-3.13]. */
  paused: [Pause]
  /** It may act again. */
  resumed: []
  /** The thoughts of a run were hidden from everybody, or shown again. */
  visibility: [VisibilityChange]
  reconnecting: [inMs: number, reason: string]
  /** The log this participant followed is gone; what follows starts at the oldest envelope. */
  lost: [WelcomePayload]
  /**
   * A request that could not be answered, such as for lack of the capability `mcp.response`; without a request, a frame of
   * the gateway that could not be read and was left out.
   */
  trouble: [error: unknown, request: AnyEnvelope | undefined]
  closed: [Error | undefined]
}
