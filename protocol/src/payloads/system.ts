import { type Static, Type } from '@sinclair/typebox'
import { Capability } from '../capability/index.js'
import { CorrelationId, EnvelopeId, ParticipantId, SpaceName, Timestamp } from '../envelope.js'
import { errorCodes } from '../errors.js'
import { type Limits, type Rate, type RateClass, rateClasses } from '../limits.js'
import { SubscribePayload } from './conversation.js'

const capabilities = Type.Array(Capability)

/** Known participants are `present` while they hold a connection, else `away`. */
export const ParticipantInfo = Type.Object({
  id: ParticipantId,
  capabilities,
  status: Type.Union([Type.Literal('present'), Type.Literal('away')]),
})
export type ParticipantInfo = Static<typeof ParticipantInfo>

/** The same with what presence does not tell. */
export const ParticipantDetails = Type.Composite([
  ParticipantInfo,
  Type.Object({
    kind: Type.String({ description: 'human, agent, or what else the operator calls it' }),
    paused: Type.Optional(
      Type.Object(
        { by: ParticipantId, reason: Type.Optional(Type.String()), until: Type.Optional(Timestamp) },
        { description: 'absent: it may act' },
      ),
    ),
  }),
])
export type ParticipantDetails = Static<typeof ParticipantDetails>

/** A proposal that may still be fulfilled. */
export const ProposalInfo = Type.Object({
  id: EnvelopeId,
  seq: Type.Integer({ minimum: 1 }),
  from: ParticipantId,
  to: Type.Optional(Type.Array(ParticipantId)),
  tool: Type.String({ maxLength: 128, description: 'the tool of a tools/call, else the method' }),
  usesLeft: Type.Integer({ minimum: 1 }),
  expiresAt: Type.Optional(Timestamp),
})
export type ProposalInfo = Static<typeof ProposalInfo>

const count = Type.Integer({ minimum: 0 })
const rate = Type.Object({
  perSecond: Type.Number({ exclusiveMinimum: 0 }),
  burst: Type.Number({ minimum: 1 }),
})
type RateSchema = typeof rate & { static: Rate }

/** What the space allows everyone; who has other rates learns it by `rate_limited`. */
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
      description: 'absent: nobody; the owner hides its own thoughts, anybody else all [MEUP-9.6]',
    }),
  ),
  startedAt: Type.String(),
})
export type ContextInfo = Static<typeof ContextInfo>

/** `from` and `to` are the first and last seq that will be replayed; `to < from` when nothing will. */
export const ResumeInfo = Type.Object({
  status: Type.Union([Type.Literal('live'), Type.Literal('replaying'), Type.Literal('lost')]),
  from: Type.Integer(),
  to: Type.Integer(),
})
export type ResumeInfo = Static<typeof ResumeInfo>

/** First frame of a connection, and the answer to every change of its subscription or capabilities [MEUP-5.4]. */
export const WelcomePayload = Type.Object({
  you: Type.Object({ id: ParticipantId, capabilities }),
  participants: Type.Array(ParticipantDetails),
  space: Type.Object({ id: SpaceName, epoch: Type.String(), head: Type.Integer({ minimum: 0 }) }),
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
      description: 'guarded; where they are longer than 2,048 characters, the beginning of their JSON',
    }),
  ),
  attemptedCorrelation: Type.Optional(CorrelationId),
  attemptedId: Type.Optional(Type.String()),
  context: Type.Optional(Type.String()),
  count: Type.Integer({ minimum: 1 }),
})
export type DecisionPayload = Static<typeof DecisionPayload>

/** `configured` carries what the operator set, never tokens, environments, headers or commands. */
export const SpacePayload = Type.Object({
  event: Type.Union([Type.Literal('opened'), Type.Literal('configured'), Type.Literal('pruned')]),
})
export type SpacePayload = Static<typeof SpacePayload>
