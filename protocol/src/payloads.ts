import { type Static, Type } from '@sinclair/typebox'
import { Capability } from './capability/schema.js'
import { CorrelationId, EnvelopeId, ParticipantId, SessionId, SpaceName, Timestamp } from './envelope.js'
import { errorCodes } from './errors.js'
import { type Limits, maxMentions, type Rate, type RateClass, rateClasses } from './limits.js'

type Json = Record<string, unknown>

/** The common fields of chat and reasoning kinds [MEUP-3.3]. */
export const MessagePayload = Type.Object({
  message: Type.Optional(Type.String()),
  format: Type.Optional(Type.Union([Type.Literal('plain'), Type.Literal('markdown')])),
})
export type MessagePayload = Static<typeof MessagePayload>

export const ChatPayload = Type.Object({
  ...MessagePayload.properties,
  message: Type.String(),
  mentions: Type.Optional(
    Type.Array(ParticipantId, { maxItems: maxMentions, description: 'who is asked; everyone reads it' }),
  ),
  data: Type.Optional(Type.Unknown({ description: 'what the message says, for programs: any JSON' })),
  handOver: Type.Optional(
    Type.Literal(true, {
      description: 'those it names answer what it correlates with, instead of its sender',
    }),
  ),
})
export type ChatPayload = Static<typeof ChatPayload>

export const AcknowledgePayload = Type.Object({ status: Type.Optional(Type.String()) })
export type AcknowledgePayload = Static<typeof AcknowledgePayload>

/** A piece of an answer. `index` counts the deltas of one answer from 0; a further 0 restarts the answer [MEUP-3.25]. */
export const DeltaPayload = Type.Object({ index: Type.Integer({ minimum: 0 }), text: Type.String() })
export type DeltaPayload = Static<typeof DeltaPayload>

export const ReasonPayload = Type.Object({ reason: Type.Optional(Type.String()) })
export type ReasonPayload = Static<typeof ReasonPayload>

const metadata = Type.Optional(
  Type.Unsafe<Json>({
    type: 'object',
    description: 'model, thinkingLevel, approach, confidence and any other key',
  }),
)
const references = Type.Optional(Type.Array(Type.String()))

export const ReasoningStartPayload = Type.Composite([
  MessagePayload,
  Type.Object({
    references,
    metadata,
    public: Type.Optional(Type.Boolean({ description: 'about a private question, and for everyone' })),
  }),
])
export type ReasoningStartPayload = Static<typeof ReasoningStartPayload>

/** Phase of a thought; default: `thinking`. */
export const Phase = Type.Union([
  Type.Literal('thinking'),
  Type.Literal('plan'),
  Type.Literal('waiting_approval'),
  Type.Literal('execute'),
  Type.Literal('error'),
])
export type Phase = Static<typeof Phase>

export const ReasoningThoughtPayload = Type.Composite([
  MessagePayload,
  Type.Object({ phase: Type.Optional(Phase), references, metadata }),
])
export type ReasoningThoughtPayload = Static<typeof ReasoningThoughtPayload>

export const ReasoningConclusionPayload = Type.Composite([MessagePayload, Type.Object({ metadata })])
export type ReasoningConclusionPayload = Static<typeof ReasoningConclusionPayload>

/** An MCP JSON-RPC request or notification. Relayed unchanged: the gateway checks only `method`. */
export const McpRequestPayload = Type.Object({
  jsonrpc: Type.Optional(Type.Unknown()),
  id: Type.Optional(Type.Unsafe<string | number | null>({})),
  method: Type.String({ minLength: 1 }),
  params: Type.Optional(Type.Unsafe<Json>({})),
})
export type McpRequestPayload = Static<typeof McpRequestPayload>

/** An MCP JSON-RPC response, with a result or an error. Relayed unchanged. */
export const McpResponsePayload = Type.Object(
  {
    jsonrpc: Type.Optional(Type.Unknown()),
    id: Type.Optional(Type.Unsafe<string | number | null>({})),
    result: Type.Optional(Type.Unsafe<Json>({})),
    error: Type.Optional(Type.Unsafe<{ code: number; message: string; data?: unknown }>({})),
  },
  { anyOf: [{ required: ['result'] }, { required: ['error'] }] },
)
export type McpResponsePayload = Static<typeof McpResponsePayload>

export const McpProposalPayload = Type.Object({
  method: Type.String({ minLength: 1 }),
  params: Type.Optional(Type.Unsafe<Json>({ type: 'object' })),
  expiresAt: Type.Optional(Timestamp),
  uses: Type.Optional(Type.Integer({ minimum: 1 })),
})
export type McpProposalPayload = Static<typeof McpProposalPayload>

export const McpRefusalPayload = Type.Object({ reason: Type.String(), message: Type.Optional(Type.String()) })
export type McpRefusalPayload = Static<typeof McpRefusalPayload>

const pattern = Type.String({ maxLength: 512 })

/** The filter of one connection; absent fields = everything [MEUP-9.1]. */
export const SubscribePayload = Type.Object(
  {
    reasoning: Type.Optional(
      Type.Union([
        Type.Literal('full'),
        Type.Literal('summary'),
        Type.Literal('boundaries'),
        Type.Literal('none'),
      ]),
    ),
    contexts: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
    excludeContexts: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
    from: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
    kinds: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
  },
  { additionalProperties: false },
)
export type SubscribePayload = Static<typeof SubscribePayload>

/** Counts the thoughts of a context that were not sent to a connection, with their distinct phases [MEUP-9.9]. */
export const SummaryPayload = Type.Object({
  thoughts: Type.Integer({ minimum: 1 }),
  phases: Type.Array(Phase),
})
export type SummaryPayload = Static<typeof SummaryPayload>

/** Shows or hides the thoughts of a run [MEUP-9.5]. */
export const VisibilityPayload = Type.Object(
  { context: EnvelopeId, reasoningVisible: Type.Boolean() },
  { additionalProperties: false },
)
export type VisibilityPayload = Static<typeof VisibilityPayload>

const givenCapabilities = Type.Array(Capability, { maxItems: 256 })
const reason = Type.Optional(Type.String())
const status = Type.Union([Type.Literal('accepted'), Type.Literal('declined')])

export const GrantPayload = Type.Object({
  recipient: ParticipantId,
  capabilities: givenCapabilities,
  expiresAt: Type.Optional(Timestamp),
  reason,
})
export type GrantPayload = Static<typeof GrantPayload>

export const RevokePayload = Type.Object(
  {
    recipient: ParticipantId,
    grantId: Type.Optional(EnvelopeId),
    capabilities: Type.Optional(givenCapabilities),
    reason,
  },
  { oneOf: [{ required: ['grantId'] }, { required: ['capabilities'] }] },
)
export type RevokePayload = Static<typeof RevokePayload>

export const GrantAckPayload = Type.Object({ status })
export type GrantAckPayload = Static<typeof GrantAckPayload>

export const InvitePayload = Type.Object({
  participantId: ParticipantId,
  capabilities: givenCapabilities,
  expiresAt: Type.Optional(Timestamp),
  reason,
})
export type InvitePayload = Static<typeof InvitePayload>

export const InviteAckPayload = Type.Object({
  status: Type.String(),
  participantId: ParticipantId,
  token: Type.String(),
  url: Type.String(),
})
export type InviteAckPayload = Static<typeof InviteAckPayload>

export const KickPayload = Type.Object({
  participantId: ParticipantId,
  reason,
  untilTs: Type.Optional(Timestamp),
})
export type KickPayload = Static<typeof KickPayload>

export const PausePayload = Type.Object({
  reason,
  timeoutSeconds: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
})
export type PausePayload = Static<typeof PausePayload>

const amount = Type.Optional(Type.Number({ minimum: 0 }))

export const StatusPayload = Type.Object({
  tokens: amount,
  maxTokens: amount,
  messagesInContext: amount,
  latencyMs: amount,
})
export type StatusPayload = Static<typeof StatusPayload>

export const RequestStatusPayload = Type.Object({ fields: Type.Optional(Type.Array(Type.String())) })
export type RequestStatusPayload = Static<typeof RequestStatusPayload>

/** Empty, because all readers get this payload and the guard does not scan it. */
export const TypingPayload = Type.Object({}, { maxProperties: 0 })

/** A request to an agent, with any fields: its sender and the agent agree on them. */
export const OpenPayload = Type.Object({})
export type OpenPayload = Static<typeof OpenPayload>

const capabilities = Type.Array(Capability)

/** A participant in presence. Known participants are `present` while connected, otherwise `away`. */
export const ParticipantInfo = Type.Object({
  id: ParticipantId,
  capabilities,
  status: Type.Union([Type.Literal('present'), Type.Literal('away')]),
})
export type ParticipantInfo = Static<typeof ParticipantInfo>

/** The state of a participant's program, as reported by its supervisor. */
export const ProgramInfo = Type.Object(
  {
    state: Type.Union([
      Type.Literal('starting'),
      Type.Literal('failed'),
      Type.Literal('restarting'),
      Type.Literal('resting'),
      Type.Literal('running'),
    ]),
    count: Type.Optional(Type.Integer({ minimum: 1, description: 'failures in a row' })),
  },
  { description: 'absent: its program is not supervised' },
)
export type ProgramInfo = Static<typeof ProgramInfo>

const restrictedBy = {
  by: ParticipantId,
  reason: Type.Optional(Type.String()),
  until: Type.Optional(Timestamp),
}

/** A participant in a welcome, with details that presence lacks. */
export const ParticipantDetails = Type.Composite([
  ParticipantInfo,
  Type.Object({
    kind: Type.String({ description: 'human, agent, or what else the operator calls it' }),
    paused: Type.Optional(Type.Object(restrictedBy, { description: 'absent: it may act' })),
    kicked: Type.Optional(Type.Object(restrictedBy, { description: 'absent: it may come in' })),
    program: Type.Optional(ProgramInfo),
    description: Type.Optional(Type.String({ description: 'what it is for, as the operator says' })),
  }),
])
export type ParticipantDetails = Static<typeof ParticipantDetails>

/** An open proposal in a welcome. */
export const ProposalInfo = Type.Object({
  id: EnvelopeId,
  seq: Type.Integer({ minimum: 1 }),
  from: ParticipantId,
  to: Type.Optional(Type.Array(ParticipantId)),
  tool: Type.String({ maxLength: 128, description: 'the tool of a tools/call, else the method' }),
  usesLeft: Type.Integer({ minimum: 1 }),
  expiresAt: Type.Optional(Timestamp),
  programEnded: Type.Optional(
    Type.Literal(true, { description: 'its program has ended: no one waits for the result' }),
  ),
})
export type ProposalInfo = Static<typeof ProposalInfo>

const count = Type.Integer({ minimum: 0 })
const rate = Type.Object({
  perSecond: Type.Number({ exclusiveMinimum: 0 }),
  burst: Type.Number({ minimum: 1 }),
})
type RateSchema = typeof rate & { static: Rate }

/** The limits in a welcome: the defaults of the space. Participants with other rates learn about them by `rate_limited`. */
const LimitsInfo = Type.Object({
  maxEnvelopeBytes: count,
  maxResultBytes: count,
  work: count,
  sendBufferBytes: count,
  contextDepth: count,
  contextLength: count,
  connectionsPerParticipant: count,
  agentHops: count,
  rates: Type.Object(
    Object.fromEntries(rateClasses.map((each) => [each, rate])) as Record<RateClass, RateSchema>,
  ),
} satisfies Record<keyof Limits, unknown>)

export const ContextInfo = Type.Object({
  context: Type.String(),
  owner: ParticipantId,
  state: Type.Union([Type.Literal('open'), Type.Literal('concluded'), Type.Literal('cancelled')]),
  reasoningVisible: Type.Boolean(),
  hiddenBy: Type.Optional(
    Type.Array(ParticipantId, {
      description: 'absent: no one; the owner hides its own thoughts, others all [MEUP-9.6]',
    }),
  ),
  startedAt: Type.String(),
})
export type ContextInfo = Static<typeof ContextInfo>

/** How a connection resumes. `from` and `to`: first and last replayed seq; `to < from` = nothing to replay. */
export const ResumeInfo = Type.Object({
  status: Type.Union([Type.Literal('live'), Type.Literal('replaying'), Type.Literal('lost')]),
  from: Type.Integer(),
  to: Type.Integer(),
})
export type ResumeInfo = Static<typeof ResumeInfo>

/** The first frame of a connection, and the answer to every change of its subscription or capabilities [MEUP-5.4]. */
export const WelcomePayload = Type.Object({
  you: Type.Object({ id: ParticipantId, capabilities, session: Type.Optional(SessionId) }),
  participants: Type.Array(ParticipantDetails),
  space: Type.Object({
    id: SpaceName,
    epoch: Type.String(),
    head: Type.Integer({ minimum: 0 }),
    frontDesk: Type.Optional(ParticipantId),
  }),
  resume: ResumeInfo,
  contexts: Type.Array(ContextInfo, { description: 'the open ones' }),
  subscription: Type.Composite([
    SubscribePayload,
    Type.Object({ suppressed: Type.Object({ envelopes: Type.Integer(), bytes: Type.Integer() }) }),
  ]),
  limits: LimitsInfo,
  mcp: Type.Object({ visibility: Type.Union([Type.Literal('everyone'), Type.Literal('addressees')]) }),
  proposals: Type.Array(ProposalInfo, {
    description: 'open ones that this participant made, or may fulfil or reject; of the latest 64',
  }),
})
export type WelcomePayload = Static<typeof WelcomePayload>

export const ErrorPayload = Type.Object({
  code: Type.Union(errorCodes.map((code) => Type.Literal(code))),
  message: Type.String(),
  attemptedKind: Type.Optional(Type.String()),
  capabilities: Type.Optional(capabilities),
  retryAfterMs: Type.Optional(Type.Integer({ minimum: 0 })),
  details: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
})
export type ErrorPayload = Static<typeof ErrorPayload>

export const PresencePayload = Type.Object({
  event: Type.Union([Type.Literal('join'), Type.Literal('leave'), Type.Literal('update')]),
  participant: Type.Object({
    id: ParticipantId,
    capabilities: Type.Optional(capabilities),
    status: Type.Optional(Type.String()),
  }),
  vouched: Type.Optional(
    Type.Object(
      { issuedAt: Type.Number({ description: 'seconds since the epoch' }), capabilities },
      { description: 'what the token of an issuer gives a participant that the operator has not configured' },
    ),
  ),
  program: Type.Optional(Type.Union([ProgramInfo, Type.Null()], { description: 'null: no longer reported' })),
  ended: Type.Optional(
    Type.Object(
      {
        what: Type.Union([Type.Literal('pause'), Type.Literal('grant'), Type.Literal('proposal')]),
        id: EnvelopeId,
      },
      { description: 'what its time has ended, of this participant: the id of the envelope that began it' },
    ),
  ),
  session: Type.Optional(
    Type.Object(
      {
        id: SessionId,
        event: Type.Union([Type.Literal('begun'), Type.Literal('ended'), Type.Literal('replaced')]),
        count: Type.Optional(
          Type.Integer({ minimum: 2, description: 'programs of it that were replaced within a minute' }),
        ),
      },
      { description: 'a program of this participant' },
    ),
  ),
})
export type PresencePayload = Static<typeof PresencePayload>

export const DecisionPayload = Type.Object({
  decision: Type.Union([
    Type.Literal('denied'),
    Type.Literal('blocked'),
    Type.Literal('limited'),
    Type.Literal('review'),
  ]),
  reasonCode: Type.String(),
  message: Type.String(),
  attemptedKind: Type.Optional(Type.String()),
  attemptedTool: Type.Optional(Type.String({ maxLength: 128 })),
  attemptedRationale: Type.Optional(Type.String({ maxLength: 2048 })),
  attemptedArguments: Type.Optional(
    Type.Union([Type.Object({}), Type.String({ maxLength: 2048 })], {
      description: 'guarded; longer than 2,048 characters: the beginning of their JSON',
    }),
  ),
  attemptedCorrelation: Type.Optional(CorrelationId),
  attemptedId: Type.Optional(Type.String()),
  missing: Type.Optional(Capability),
  context: Type.Optional(Type.String()),
  count: Type.Integer({ minimum: 1 }),
})
export type DecisionPayload = Static<typeof DecisionPayload>

/**
 * An event of the space. `configured` contains the operator's configuration, but never tokens, environments, headers or
 * commands.
 */
export const SpacePayload = Type.Object({
  event: Type.Union([
    Type.Literal('opened'),
    Type.Literal('configured'),
    Type.Literal('pruned'),
    Type.Literal('erased'),
  ]),
})
export type SpacePayload = Static<typeof SpacePayload>
