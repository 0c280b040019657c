import type { AnyEnvelope, Capability, McpRequestPayload, Phase, WelcomePayload } from '@meup/protocol'
import type { Pause } from './pauses.js'
import type { Progress, Proposal } from './proposal.js'
import type { VisibilityChange } from './space-state.js'
import type { WaitOptions } from './wait.js'

export type ConnectionStatus =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly inMs: number; readonly reason: string }

/** What came for a participant that nothing of it answers. */
export interface Unhandled {
  /** Messages that ask it, and wait for `answer()`, `turns()` or `agent()`. */
  readonly questions: number
  /** MCP requests, which had no `tool()` and no `serve()`, and were answered with an error. */
  readonly requests: number
}

export interface SpaceEvents {
  /** The connection was established or restored. */
  connected: []
  /** Every logged envelope this participant receives, in log order, and errors that answer no pending request. */
  envelope: [AnyEnvelope]
  /** The state of the space, at each connection and after each change of the subscription. */
  welcome: [WelcomePayload]
  /** The capabilities of this participant changed. */
  capabilities: [readonly Capability[]]
  /** This participant was paused [MEUP-3.13]. */
  paused: [Pause]
  resumed: []
  /** The thoughts of a run were hidden or shown. */
  visibility: [VisibilityChange]
  reconnecting: [inMs: number, reason: string]
  /** What other participants offer may have changed: see `SpaceClient.tools`. */
  tools: []
  /** The log was replaced. The envelopes that follow start at its oldest one. */
  lost: [WelcomePayload]
  /**
   * A request could not be answered, for example without the capability `mcp.response`. Without a request: the gateway
   * sent a frame that could not be read and was skipped.
   */
  requestError: [error: unknown, request: AnyEnvelope | undefined]
  /**
   * Something came for this participant, and nothing has answered it for ten seconds. Comes once; without a listener it is printed as a
   * warning.
   */
  unhandled: [Unhandled]
  closed: [Error | undefined]
}

/** The fields of an envelope that its sender sets; the gateway adds the others. */
export interface Draft {
  readonly kind: string
  readonly id?: string
  readonly to?: readonly string[]
  readonly correlationId?: string | readonly string[]
  readonly context?: string
  readonly rationale?: string
  readonly parallelGroup?: number
  /** Of a call: propose it where this participant may not make it [MEUP-4.21]. */
  readonly orPropose?: true | { readonly expiresAt?: string }
  readonly payload?: object
}

export interface ContributeOptions {
  /** Id of the thought that it answers. */
  readonly to?: string
  readonly phase?: Phase
  /** Ids of earlier envelopes, or names of data, that it builds on. */
  readonly references?: readonly string[]
  readonly metadata?: object
}

export type ChatOptions = Omit<Draft, 'kind' | 'payload' | 'orPropose'> & {
  readonly format?: 'plain' | 'markdown'
  /** Who is asked, while everybody reads it; with `to`, some of those. */
  readonly mention?: string | readonly string[]
  /** The content of the message for programs: any JSON. */
  readonly data?: unknown
  /** How much a model is to think about it, for agents with one: `turn.thinkingLevel`. */
  readonly thinkingLevel?: ThinkingLevel
}

/** How much a model is to think. */
export const thinkingLevels = ['off', 'low', 'high'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]

/** MCP's result of `elicitation/create`: `decline` = it was refused, `cancel` = nothing was chosen. */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** With `accept`: what the form was filled in with. */
  readonly content?: Readonly<Record<string, unknown>>
}

/** `params`: those of MCP's `elicitation/create`. The signal is aborted when the question has become pointless. */
export type OnElicitation = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<ElicitResult>

/** `timeoutMs` limits the wait for the response; with `onProgress`, each report of the callee starts it anew. */
export interface CallOptions extends WaitOptions {
  /** Id of the envelope; default: a new one. By it the call is found in the log. */
  readonly id?: string
  readonly context?: string
  readonly correlationId?: string
  /** The reason for the call; everyone in the space can read it. */
  readonly why?: string
  /** Calls with the same number were made together. */
  readonly parallelGroup?: number
  /** Called with each progress report of the callee. */
  readonly onProgress?: (progress: Progress) => void
  /** Called with other notifications about the call, such as log messages (`notifications/message`). */
  readonly onNotification?: (notification: McpRequestPayload) => void
  /** Answers what the callee asks meanwhile (`elicitation/create`); by default it is declined. Its time is not counted. */
  readonly onElicitation?: OnElicitation
  /**
   * Milliseconds to wait for the callee where it is away and its program is starting; default 120,000, and never longer than
   * `timeoutMs`. A call to one that is away otherwise fails within half a second, with `participant_away`.
   */
  readonly waitForMs?: number
  /** `false`: a request that this participant may not make is refused instead of proposed. */
  readonly propose?: boolean
  /** Milliseconds that a proposal stays open for approval; default 600,000; `Infinity` = no limit. */
  readonly approvalMs?: number
  /** Called when the request was turned into a proposal. */
  readonly onProposal?: (proposal: Proposal) => void
}

/** What the parts of a client need of it. */
export interface ClientContext {
  /** The id of this participant. */
  readonly id: string
  /** Milliseconds since 1970 by the gateway's clock, which decides what has expired. */
  gatewayTime(): number
  can(draft: Draft): boolean
  mayGrant(recipient: string, capabilities: readonly Capability[]): boolean
  send(draft: Draft): Promise<AnyEnvelope>
  /** The same at the rate that the space allows. */
  sendPaced(draft: Draft, signal?: AbortSignal): Promise<AnyEnvelope>
}
