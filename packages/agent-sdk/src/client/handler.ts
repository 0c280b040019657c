import type { Calls, ContextStates, Participants, SpaceChanges, SpaceView, WelcomeChanges } from '@meup/folds'
import type { AnyEnvelope, McpRequestPayload, WelcomePayload } from '@meup/protocol'
import type { OpenProposal } from './proposal.js'

/** The facts that a connection keeps about its space. */
type SpaceFacts = {
  readonly participants: Participants
  readonly contexts: ContextStates
  readonly proposals: Calls<OpenProposal>
}

/** The space by the welcome and the envelopes received since. */
export type KnownSpace = SpaceView<SpaceFacts>
/** The changes by an envelope; none for an envelope that is not logged. */
export type KnownChanges = Partial<SpaceChanges<SpaceFacts>>
export type KnownWelcome = WelcomeChanges<SpaceFacts>

/** The connection a welcome belongs to. */
export interface WelcomeInfo {
  readonly isFirst: boolean
  /** When the gateway sent it, RFC 3339. */
  readonly ts: string
  /** Id of the subscription change that it answers. */
  readonly answers: string | undefined
}

/** A request of a participant to itself, while it is sent. */
export interface OwnCall {
  readonly id: string
  readonly context?: string
  readonly to: readonly string[]
  readonly payload: McpRequestPayload
}

/** A part of a client. Each event goes to all parts, in the order in which they were added. */
export interface ClientHandler {
  /** `frame`: the envelope as received. If it returns `true`, no further part and no listener sees the envelope. */
  onEnvelope?(envelope: AnyEnvelope, changes: KnownChanges, frame: string): unknown
  onWelcome?(welcome: WelcomePayload, changes: KnownWelcome, info: WelcomeInfo): void
  /** This client makes an allowed request to its own participant. `over`: aborted when it is refused, or no longer awaited. */
  onOwnCall?(call: OwnCall, over: AbortSignal): void
  /** The connection is closed and will not be restored. */
  onClose?(reason: Error): void
}
