import type { AnyEnvelope, Capability, McpRequestPayload, Phase, WelcomePayload } from '@meup/protocol'
import type { Pause } from './pauses.js'
import type { Progress, Proposal } from './proposal.js'
import type { VisibilityChange } from './space-state.js'
import type { WaitOptions } from './wait.js'

export type ConnectionStatus =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly inMs: number; readonly reason: string }

/** Counts of messages and requests without a handler. */
export interface Unhandled {
  /** Messages to this participant, waiting for `answer()`, `turns()` or `agent()`. */
  readonly questions: number
  /** MCP requests without a `tool()` or `serve()`, which were answered with an error. */
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
  /** The tools of other participants may have changed: see `SpaceClient.tools`. */
  tools: []
  /** The log was replaced. The envelopes that follow start at its oldest one. */
  lost: [WelcomePayload]
  /**
   * A request could not be answered, for example without the capability `mcp.response`. Without a request: the gateway
   * sent a frame that could not be read and was skipped.
   */
  requestError: [error: unknown, request: AnyEnvelope | undefined]
  /** A message or request has had no handler for ten seconds. Emitted once; without a listener it is printed as a warning. */
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
  /** For a call: propose it if this participant may not make it [MEUP-4.21]. */
  readonly orPropose?: true | { readonly expiresAt?: string }
  readonly payload?: object
}

export interface ContributeOptions {
  /** Id of the thought that it answers. */
  readonly to?: string
  readonly phase?: Phase
  /** Ids of earlier envelopes, or names of data, that it is based on. */
  readonly references?: readonly string[]
  readonly metadata?: object
}

export type ChatOptions = Omit<Draft, 'kind' | 'payload' | 'orPropose'> & {
  readonly format?: 'plain' | 'markdown'
  /** Participants that are asked, while everyone can read it; with `to`, some of those. */
  readonly mention?: string | readonly string[]
  /** Structured content of the message: any JSON. */
  readonly data?: unknown
  /** Thinking level for agents with a model: `turn.thinkingLevel`. */
  readonly thinkingLevel?: ThinkingLevel
}

/** Thinking levels of models. */
export const thinkingLevels = ['off', 'low', 'high'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]

/** MCP's result of `elicitation/create`: `decline` = refused, `cancel` = dismissed. */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** The values of the form, for `accept`. */
  readonly content?: Readonly<Record<string, unknown>>
}

/** `params`: those of MCP's `elicitation/create`. The signal is aborted when the answer is no longer needed. */
export type OnElicitation = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<ElicitResult>

/** `timeoutMs` limits the wait for the response; with `onProgress`, each report restarts it. */
export interface CallOptions extends WaitOptions {
  /** Id of the envelope, by which the call can be found in the log; default: a new one. */
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
  /** Answers elicitations of the callee (`elicitation/create`); default: declines. Their time does not count toward the timeout. */
  readonly onElicitation?: OnElicitation
  /**
   * Milliseconds to wait for an absent callee whose program is starting; default 120,000, at most `timeoutMs`. Otherwise a call
   * to an absent participant fails with `participant_away` within half a second.
   */
  readonly waitForMs?: number
  /** `false`: a request that this participant may not make is refused instead of proposed. */
  readonly propose?: boolean
  /** Milliseconds that a proposal stays open for approval; default 600,000; `Infinity` = no limit. */
  readonly approvalMs?: number
  /** Called when the request was turned into a proposal. */
  readonly onProposal?: (proposal: Proposal) => void
}

/** The part of a client that its parts use. */
export interface ClientContext {
  /** The id of this participant. */
  readonly id: string
  /** Milliseconds since 1970 by the gateway's clock, which decides what has expired. */
  gatewayTime(): number
  can(draft: Draft): boolean
  mayGrant(recipient: string, capabilities: readonly Capability[]): boolean
  send(draft: Draft): Promise<AnyEnvelope>
  /** Like `send`, at the rate of the space. */
  sendPaced(draft: Draft, signal?: AbortSignal): Promise<AnyEnvelope>
}
