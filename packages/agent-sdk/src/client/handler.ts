import type { Calls, ContextStates, Participants, SpaceChanges, SpaceView, WelcomeChanges } from '@meup/folds'
import type { AnyEnvelope, McpRequestPayload, WelcomePayload } from '@meup/protocol'
import type { OpenProposal } from './proposal.js'

/** The facts about the space that a connection keeps. */
type SpaceFacts = {
  readonly participants: Participants
  readonly contexts: ContextStates
  readonly proposals: Calls<OpenProposal>
}

/** The space, from the welcome and what this participant has read since. */
export type KnownSpace = SpaceView<SpaceFacts>
/** What an envelope has changed of it; nothing of what the log does not have. */
export type KnownChanges = Partial<SpaceChanges<SpaceFacts>>
export type KnownWelcome = WelcomeChanges<SpaceFacts>

/** The connection a welcome belongs to. */
export interface WelcomeInfo {
  /** Whether this is the first welcome of its connection. */
  readonly isFirst: boolean
  /** When the gateway sent it, RFC 3339. */
  readonly ts: string
  /** The subscription change that it answers. */
  readonly answers: string | undefined
}

/** A request that a participant makes of itself, as it is sent. */
export interface OwnCall {
  readonly id: string
  readonly context?: string
  readonly to: readonly string[]
  readonly payload: McpRequestPayload
}

/** A part of a client. Each event goes to all parts, in the order in which they were added. */
export interface ClientHandler {
  /** `frame`: the envelope as received. After `true` no other part and no listener sees the envelope. */
  onEnvelope?(envelope: AnyEnvelope, changes: KnownChanges, frame: string): unknown
  onWelcome?(welcome: WelcomePayload, changes: KnownWelcome, info: WelcomeInfo): void
  /** This client asks its own participant, and may do so. `over`: aborted when it is refused, or nobody waits for it any more. */
  onOwnCall?(call: OwnCall, over: AbortSignal): void
  /** The connection is closed and will not be restored. */
  onClose?(reason: Error): void
}
