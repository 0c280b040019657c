import { type Static, Type } from '@sinclair/typebox'
import { Capability } from '../capability/index.js'
import { EnvelopeId, ParticipantId, Timestamp } from '../envelope.js'

const capabilities = Type.Array(Capability, { maxItems: 256 })
const reason = Type.Optional(Type.String())
const status = Type.Union([Type.Literal('accepted'), Type.Literal('declined')])

export const GrantPayload = Type.Object({
  recipient: ParticipantId,
  capabilities,
  expiresAt: Type.Optional(Timestamp),
  reason,
})
export type GrantPayload = Static<typeof GrantPayload>

export const RevokePayload = Type.Object(
  {
    recipient: ParticipantId,
    grantId: Type.Optional(EnvelopeId),
    capabilities: Type.Optional(capabilities),
    reason,
  },
  { oneOf: [{ required: ['grantId'] }, { required: ['capabilities'] }] },
)
export type RevokePayload = Static<typeof RevokePayload>

export const GrantAckPayload = Type.Object({ status })
export type GrantAckPayload = Static<typeof GrantAckPayload>

export const InvitePayload = Type.Object({
  participantId: ParticipantId,
  capabilities,
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

const count = Type.Optional(Type.Number({ minimum: 0 }))

export const StatusPayload = Type.Object({
  tokens: count,
  maxTokens: count,
  messagesInContext: count,
  latencyMs: count,
})
export type StatusPayload = Static<typeof StatusPayload>

export const RequestStatusPayload = Type.Object({ fields: Type.Optional(Type.Array(Type.String())) })
export type RequestStatusPayload = Static<typeof RequestStatusPayload>

/** Requests to an agent carry what their sender and the agent agree on. */
export const OpenPayload = Type.Object({})
export type OpenPayload = Static<typeof OpenPayload>
