import type { Static, TSchema } from '@sinclair/typebox'
import { isKnownKind, Kind } from './kinds.js'
import {
  GrantAckPayload,
  GrantPayload,
  InviteAckPayload,
  InvitePayload,
  KickPayload,
  OpenPayload,
  PausePayload,
  RequestStatusPayload,
  RevokePayload,
  StatusPayload,
} from './payloads/control.js'
import {
  AcknowledgePayload,
  ChatPayload,
  McpProposalPayload,
  McpRefusalPayload,
  McpRequestPayload,
  McpResponsePayload,
  ReasoningConclusionPayload,
  ReasoningStartPayload,
  ReasoningThoughtPayload,
  ReasonPayload,
  SubscribePayload,
  VisibilityPayload,
} from './payloads/conversation.js'
import {
  DecisionPayload,
  ErrorPayload,
  PresencePayload,
  SpacePayload,
  WelcomePayload,
} from './payloads/system.js'

export interface KindRule {
  readonly payload: TSchema
  readonly meaning: string
  /** Envelope fields without which the kind makes no sense. */
  readonly requires?: readonly ('to' | 'correlationId' | 'context')[]
  /** May carry `rationale` and `parallelGroup`. */
  readonly toolCall?: true
  /** Everybody may send it. */
  readonly free?: true
  /** Neither logged nor relayed. */
  readonly ephemeral?: true
  /** Sent by the gateway alone. */
  readonly gateway?: true
}

const correlated = { requires: ['correlationId'] } as const
const inContext = { requires: ['context'] } as const
const addressed = { requires: ['to'] } as const

const rules = {
  [Kind.chat]: {
    payload: ChatPayload,
    meaning: 'a message; the final answer to X has no context and correlationId X',
  },
  [Kind.chatAcknowledge]: {
    payload: AcknowledgePayload,
    meaning: 'says that a message was taken note of',
    ...correlated,
  },
  [Kind.chatCancel]: { payload: ReasonPayload, meaning: 'takes a message back', ...correlated },
  [Kind.mcpRequest]: {
    payload: McpRequestPayload,
    meaning: 'an MCP request or notification, untouched',
    toolCall: true,
  },
  [Kind.mcpResponse]: { payload: McpResponsePayload, meaning: 'an MCP response, untouched', ...correlated },
  [Kind.mcpProposal]: {
    payload: McpProposalPayload,
    meaning: 'asks someone with the capability to do it',
    toolCall: true,
  },
  [Kind.mcpWithdraw]: {
    payload: McpRefusalPayload,
    meaning: 'takes a proposal back',
    free: true,
    ...correlated,
  },
  [Kind.mcpReject]: { payload: McpRefusalPayload, meaning: 'refuses a proposal', ...correlated },
  [Kind.reasoningStart]: { payload: ReasoningStartPayload, meaning: 'opens a context' },
  [Kind.reasoningThought]: { payload: ReasoningThoughtPayload, meaning: 'a thought', ...inContext },
  [Kind.reasoningConclusion]: {
    payload: ReasoningConclusionPayload,
    meaning: 'ends a context',
    ...inContext,
  },
  [Kind.reasoningCancel]: {
    payload: ReasonPayload,
    meaning: 'breaks a context off, or asks its starter to',
    ...inContext,
  },
  [Kind.observeSubscribe]: {
    payload: SubscribePayload,
    meaning: 'what this connection wants to see',
    free: true,
    ephemeral: true,
  },
  [Kind.observeVisibility]: {
    payload: VisibilityPayload,
    meaning: 'hides or shows the thoughts of a run for everyone',
  },
  [Kind.capabilityGrant]: { payload: GrantPayload, meaning: 'gives capabilities; its id is the grant id' },
  [Kind.capabilityRevoke]: { payload: RevokePayload, meaning: 'takes granted capabilities back' },
  [Kind.capabilityGrantAck]: {
    payload: GrantAckPayload,
    meaning: 'answers a grant',
    free: true,
    ...correlated,
  },
  [Kind.spaceInvite]: { payload: InvitePayload, meaning: 'makes a new participant' },
  [Kind.spaceInviteAck]: {
    payload: InviteAckPayload,
    meaning: 'the token, to the inviter alone',
    ephemeral: true,
    gateway: true,
  },
  [Kind.spaceKick]: { payload: KickPayload, meaning: 'closes a participant out' },
  [Kind.participantPause]: {
    payload: PausePayload,
    meaning: 'stops a participant from acting',
    ...addressed,
  },
  [Kind.participantResume]: { payload: PausePayload, meaning: 'lets it act again', ...addressed },
  [Kind.participantStatus]: { payload: StatusPayload, meaning: 'how an agent is doing' },
  [Kind.participantRequestStatus]: {
    payload: RequestStatusPayload,
    meaning: 'asks for a status',
    ...addressed,
  },
  [Kind.participantForget]: { payload: OpenPayload, meaning: 'asks an agent to forget', ...addressed },
  [Kind.participantCompact]: {
    payload: OpenPayload,
    meaning: 'asks an agent to compact its memory',
    ...addressed,
  },
  [Kind.participantCompactDone]: { payload: OpenPayload, meaning: 'says that it did' },
  [Kind.participantClear]: {
    payload: OpenPayload,
    meaning: 'asks an agent to clear its memory',
    ...addressed,
  },
  [Kind.participantRestart]: { payload: OpenPayload, meaning: 'asks an agent to restart', ...addressed },
  [Kind.participantShutdown]: { payload: OpenPayload, meaning: 'asks an agent to end', ...addressed },
  [Kind.systemWelcome]: {
    payload: WelcomePayload,
    meaning: 'first frame of a connection',
    ephemeral: true,
    gateway: true,
  },
  [Kind.systemError]: {
    payload: ErrorPayload,
    meaning: 'why an envelope was refused',
    ephemeral: true,
    gateway: true,
  },
  [Kind.systemPresence]: { payload: PresencePayload, meaning: 'who came and went', gateway: true },
  [Kind.systemDecision]: { payload: DecisionPayload, meaning: 'what the gateway denied', gateway: true },
  [Kind.systemSpace]: { payload: SpacePayload, meaning: 'the life of the space', gateway: true },
} satisfies Record<Kind, KindRule>

/** Shape and standing of every kind [MEUP-3.2]. */
export const kindRules: Readonly<Record<Kind, KindRule>> = rules

/** The rule of a kind; unknown reasoning kinds stand as thoughts do. `undefined` = nothing is known of it [MEUP-3.1]. */
export function ruleOf(kind: string): KindRule | undefined {
  if (isKnownKind(kind)) return rules[kind]
  return kind.startsWith('reasoning.') ? rules[Kind.reasoningThought] : undefined
}

/** Payload type of each kind. */
export type Payloads = { readonly [K in Kind]: Static<(typeof rules)[K]['payload']> }
