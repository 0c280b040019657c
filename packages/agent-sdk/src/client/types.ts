import type { AnyEnvelope, Capability, McpRequestPayload, Phase, WelcomePayload } from '@meup/protocol'
import type { Pause } from './pauses.js'
import type { Progress, Proposal } from './proposal.js'
import type { VisibilityChange } from './space-state.js'
import type { WaitOptions } from './wait.js'

export type ConnectionStatus =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly inMs: number; readonly reason: string }

/** Numbers of messages and requests for which no handler is registered. */
export interface Unhandled {
  /** Messages that ask this participant, waiting for `answer()`, `turns()` or `agent()`. */
  readonly questions: number
  /** MCP requests without a handler from `tool()` or `serve()`, which were answered with an error. */
  readonly requests: number
}

export interface SpaceEvents {
  /** The connection was established or restored. */
  connected: []
  /** Every logged envelope that this participant receives, in log order, and errors that do not answer a pending request. */
  envelope: [AnyEnvelope]
  /** The state of the space, after each connect and each change of the subscription. */
  welcome: [WelcomePayload]
  /** The capabilities of this participant changed. */
  capabilities: [readonly Capability[]]
  /** This participant was paused [MEUP-3.13]. */
  paused: [Pause]
  resumed: []
  /**
   * No program will answer a message of this participant: the program of `agent` was the last one asked, and has ended. The
   * next program of `agent` does not receive the message [MEUP-13.26]. `ask()` also rejects.
   */
  unanswered: [{ readonly id: string; readonly agent: string }]
  /** The thoughts of a run were hidden or shown. */
  visibility: [VisibilityChange]
  reconnecting: [inMs: number, reason: string]
  /** The tools of other participants, or the right to call them, may have changed. */
  tools: []
  /** The log was replaced. The envelopes that follow start with the oldest one of the new log. */
  lost: [WelcomePayload]
  /**
   * A request could not be answered, for example because the capability `mcp.response` is missing. Without a request: the
   * gateway sent a frame that could not be read and was skipped.
   */
  requestError: [error: unknown, request: AnyEnvelope | undefined]
  /** A message or request has waited ten seconds for a handler. Emitted once; printed as a warning if there is no listener. */
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
  /** Proposes an MCP request if this participant may not make it [MEUP-4.21]. */
  readonly orPropose?: true | { readonly expiresAt?: string }
  readonly payload?: object
}

export interface ContributeOptions {
  /** Id of the thought that this one answers. */
  readonly to?: string
  readonly phase?: Phase
  /** Ids of earlier envelopes, or names of data, that the thought is based on. */
  readonly references?: readonly string[]
  readonly metadata?: object
}

export type ChatOptions = Omit<Draft, 'kind' | 'payload' | 'orPropose'> & {
  readonly format?: 'plain' | 'markdown'
  /** Participants that the message asks, although others can read it too. With `to`, a part of the addressees. */
  readonly mention?: string | readonly string[]
  /** Structured content of the message: any JSON. */
  readonly data?: unknown
  /** How much a model that answers the message should think; absent: as in the settings of its agent. */
  readonly thinkingLevel?: ThinkingLevel
}

export const thinkingLevels = ['off', 'low', 'high'] as const
export type ThinkingLevel = (typeof thinkingLevels)[number]

/** The result of MCP's `elicitation/create`: `decline` = the user refused, `cancel` = the user dismissed it. */
export interface ElicitResult {
  readonly action: 'accept' | 'decline' | 'cancel'
  /** The values of the form, if `action` is `accept`. */
  readonly content?: Readonly<Record<string, unknown>>
}

/**
 * Answers an elicitation. `params`: as in MCP's `elicitation/create`. The signal is aborted when the answer is no longer
 * needed.
 */
export type OnElicitation = (
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<ElicitResult>

/** `timeoutMs` limits the wait for the response; with `onProgress`, each progress report restarts it. */
export interface CallOptions extends WaitOptions {
  /** Envelope id of the request, to find the call in the log; default: a new id. */
  readonly id?: string
  readonly context?: string
  readonly correlationId?: string
  /** The public reason for the call. */
  readonly why?: string
  /** Number of the parallel group: calls with the same number were made together. */
  readonly parallelGroup?: number
  /** Called with each progress report of the callee. */
  readonly onProgress?: (progress: Progress) => void
  /** Called with other notifications about the call, such as log messages (`notifications/message`). */
  readonly onNotification?: (notification: McpRequestPayload) => void
  /**
   * Answers elicitations of the callee (`elicitation/create`); default: declines. The time for answering does not count toward
   * the timeout.
   */
  readonly onElicitation?: OnElicitation
  /**
   * Milliseconds to wait for an absent callee whose program is starting; default 120,000, at most `timeoutMs`. A call to an
   * absent participant that is not starting fails with `participant_away` within half a second, or two seconds if its program
   * is running.
   */
  readonly waitForMs?: number
  /** `false`: a request that this participant may not make is refused instead of proposed. */
  readonly propose?: boolean
  /** Milliseconds that a proposal stays open for approval; default 600,000; `Infinity` = no limit. */
  readonly approvalMs?: number
  /** Called when the request was turned into a proposal. */
  readonly onProposal?: (proposal: Proposal) => void
}

/** Methods of a client that its components use. */
export interface ClientContext {
  readonly id: string
  /** Milliseconds since 1970 by the gateway's clock, which determines what has expired. */
  gatewayTime(): number
  can(draft: Draft): boolean
  mayGrant(recipient: string, capabilities: readonly Capability[]): boolean
  send(draft: Draft): Promise<AnyEnvelope>
  /** Like `send`, but waits if the rate limit of the space requires it. */
  sendPaced(draft: Draft, signal?: AbortSignal): Promise<AnyEnvelope>
}
