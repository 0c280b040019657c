import type { AnyEnvelope, Capability, McpRequestPayload, WelcomePayload } from '@meup/protocol'
import type { Pause } from './pauses.js'
import type { Progress, Proposal } from './proposal.js'
import type { VisibilityChange } from './space-state.js'
import type { ToolResult } from './tool-result.js'
import type { WaitOptions } from './wait.js'

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

/** What a sender sets of an envelope; the gateway adds the rest. */
export interface Draft {
  readonly kind: string
  readonly id?: string
  readonly to?: readonly string[]
  readonly correlationId?: string | readonly string[]
  readonly context?: string
  readonly rationale?: string
  readonly parallelGroup?: number
  readonly payload?: object
}

export type ChatOptions = Omit<Draft, 'kind' | 'payload'> & { readonly format?: 'plain' | 'markdown' }

/** Where in the conversation a request stands, and why it is made. `timeoutMs` is for the response. */
export interface CallOptions extends WaitOptions {
  readonly context?: string
  readonly correlationId?: string
  /** Why this tool, for everyone to read. */
  readonly why?: string
  /** Calls with the same number were made together. */
  readonly parallelGroup?: number
  /** Called each time that the one who was asked reports progress. */
  readonly onProgress?: (progress: Progress) => void
  /**
   * Called with what else the one who was asked tells of the call while it works: log messages
   * (`notifications/message`), partial output.
   */
  readonly onNotification?: (notification: McpRequestPayload) => void
  /** `false`: what this participant may not do itself is not proposed to others, but refused. */
  readonly propose?: boolean
  /** Milliseconds that a proposal stays open for somebody to approve; default 600,000; `Infinity` = any time. */
  readonly approvalMs?: number
  /** Told of the proposal that the call has become. */
  readonly onProposal?: (proposal: Proposal) => void
}

interface Heard {
  envelope: [AnyEnvelope]
  paused: [Pause]
  resumed: []
  lost: [WelcomePayload]
  trouble: [error: unknown, request: AnyEnvelope | undefined]
  closed: [Error | undefined]
}

/** A participant's place in a space: what tools, turns and reasoning need of it. `Space` is one. */
export interface Seat {
  /** This participant's id. */
  readonly id: string
  /** Why it is over, for good; `undefined` while it goes on. */
  readonly ended: { readonly error: Error | undefined } | undefined
  /** Why this participant may do little more than answer; `undefined` = it is not paused, as far as it knows. */
  readonly paused: Pause | undefined
  /** Whether a capability of this participant allows it. The gateway has the last word. */
  can(draft: Draft): boolean
  send(draft: Draft): Promise<AnyEnvelope>
  chat(message: string, options?: ChatOptions): Promise<AnyEnvelope>
  call(tool: string, args?: object, options?: CallOptions): Promise<ToolResult>
  on<Event extends keyof Heard>(event: Event, listener: (...heard: Heard[Event]) => void): unknown
  off<Event extends keyof Heard>(event: Event, listener: (...heard: Heard[Event]) => void): unknown
}
