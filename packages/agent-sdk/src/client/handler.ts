import type { Calls, ContextStates, Participants, SpaceChanges, SpaceView, WelcomeChanges } from '@meup/folds'
import type { AnyEnvelope, McpRequestPayload, WelcomePayload } from '@meup/protocol'
import type { OpenProposal } from './proposal.js'

/** The facts about its space that a client keeps. */
type SpaceFacts = {
  readonly participants: Participants
  readonly contexts: ContextStates
  readonly proposals: Calls<OpenProposal>
}

/** The state of the space, by the welcome and the envelopes received since. */
export type KnownSpace = SpaceView<SpaceFacts>
/** Changes of the state by an envelope; empty for an envelope that is not logged. */
export type KnownChanges = Partial<SpaceChanges<SpaceFacts>>
export type KnownWelcome = WelcomeChanges<SpaceFacts>

/** How a welcome relates to the connection. */
export interface WelcomeInfo {
  readonly isFirst: boolean
  /** When the gateway sent it, RFC 3339. */
  readonly ts: string
  /** Id of the subscription change that the welcome answers. */
  readonly answers: string | undefined
}

/** A request of this participant to itself, as it is sent. */
export interface OwnCall {
  readonly id: string
  readonly context?: string
  readonly to: readonly string[]
  readonly payload: McpRequestPayload
}

/** A component of a client. Each event is passed to all components, in the order in which they were added. */
export interface ClientHandler {
  /**
   * `frame`: the envelope as received. Returning `true` hides the envelope from the remaining components and from listeners.
   */
  onEnvelope?(envelope: AnyEnvelope, changes: KnownChanges, frame: string): unknown
  onWelcome?(welcome: WelcomePayload, changes: KnownWelcome, info: WelcomeInfo): void
  /**
   * Called when this client sends a request to its own participant that it may make. `over`: aborted when the request is
   * refused, or the caller no longer waits for it.
   */
  onOwnCall?(call: OwnCall, over: AbortSignal): void
  /** The connection is closed and will not be restored. */
  onClose?(reason: Error): void
}
