import { type Static, Type } from '@sinclair/typebox'
import { Capability } from '../capability/index.js'
import { ParticipantId, SpaceName } from '../envelope.js'
import { errorCodes } from '../errors.js'
import { SubscribePayload } from './conversation.js'

const capabilities = Type.Array(Capability)

/** Known participants are `present` while they hold a connection, else `away`. */
export const ParticipantInfo = Type.Object({
  id: ParticipantId,
  capabilities,
  status: Type.Union([Type.Literal('present'), Type.Literal('away')]),
})
export type ParticipantInfo = Static<typeof ParticipantInfo>

export const ContextInfo = Type.Object({
  context: Type.String(),
  owner: ParticipantId,
  state: Type.Union([Type.Literal('open'), Type.Literal('concluded'), Type.Literal('cancelled')]),
  reasoningVisible: Type.Boolean(),
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
  participants: Type.Array(ParticipantInfo),
  space: Type.Object({ id: SpaceName, epoch: Type.String(), head: Type.Integer({ minimum: 0 }) }),
  resume: ResumeInfo,
  contexts: Type.Array(ContextInfo, { description: 'the open ones' }),
  subscription: Type.Composite([
    SubscribePayload,
    Type.Object({ suppressed: Type.Object({ envelopes: Type.Integer(), bytes: Type.Integer() }) }),
  ]),
  limits: Type.Object({}),
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
