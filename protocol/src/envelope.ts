import { type Static, Type } from '@sinclair/typebox'
import { maxCorrelations } from './limits.js'
import { envelopeId, GATEWAY, PROTOCOL } from './names.js'

export const EnvelopeId = Type.String({
  pattern: envelopeId.source,
  description: 'unique in the space',
})
export type EnvelopeId = Static<typeof EnvelopeId>

export const ParticipantId = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' })
export type ParticipantId = Static<typeof ParticipantId>

/** Id of a running program, chosen by the program itself [MEUP-2.14]. */
export const SessionId = Type.String({ pattern: envelopeId.source })
export type SessionId = Static<typeof SessionId>

export const SpaceName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' })
export type SpaceName = Static<typeof SpaceName>

export const Timestamp = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
  description: 'RFC 3339',
})
export type Timestamp = Static<typeof Timestamp>

const kind = Type.String({ pattern: '^(?=.{1,128}$)[a-z][a-z0-9-]*(\\.[a-z0-9][a-z0-9-]*){0,3}$' })
export const CorrelationId = Type.Union([
  EnvelopeId,
  Type.Array(EnvelopeId, { minItems: 1, maxItems: maxCorrelations }),
])
/** Number of a batch of tool calls. Bounded, so that no parser rounds it. */
const parallelGroup = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Asks the gateway to propose the call if its sender lacks the capability [MEUP-4.18]. */
const OrPropose = Type.Union([
  Type.Literal(true),
  Type.Object({ expiresAt: Type.Optional(Timestamp) }, { additionalProperties: false }),
])
export type OrPropose = Static<typeof OrPropose>

/** An envelope as a participant sends it, after alias resolution [MEUP-1.2]. */
export const Submission = Type.Object(
  {
    protocol: Type.Optional(Type.Literal(PROTOCOL)),
    id: Type.Optional(EnvelopeId),
    ts: Type.Optional(Type.String({ description: 'replaced by the gateway' })),
    from: Type.Optional(Type.String()),
    to: Type.Optional(Type.Array(ParticipantId, { maxItems: 64 })),
    kind,
    correlationId: Type.Optional(CorrelationId),
    context: Type.Optional(Type.String()),
    rationale: Type.Optional(Type.String()),
    parallelGroup: Type.Optional(parallelGroup),
    orPropose: Type.Optional(OrPropose),
    payload: Type.Optional(Type.Object({})),
  },
  { $id: 'submission', title: 'Submission', additionalProperties: false },
)
export type Submission = Static<typeof Submission>

/** An envelope as the gateway delivers it [MEUP-1.1]. `seq` is absent if the envelope is not logged. */
export const Envelope = Type.Object(
  {
    protocol: Type.Literal(PROTOCOL),
    id: EnvelopeId,
    seq: Type.Optional(Type.Integer({ minimum: 1 })),
    ts: Timestamp,
    from: Type.Union([ParticipantId, Type.Literal(GATEWAY)]),
    to: Type.Optional(
      Type.Array(Type.Union([ParticipantId, Type.Literal(GATEWAY)]), { minItems: 1, maxItems: 65 }),
    ),
    kind,
    correlationId: Type.Optional(CorrelationId),
    context: Type.Optional(Type.String()),
    rationale: Type.Optional(Type.String()),
    parallelGroup: Type.Optional(parallelGroup),
    allowedBy: Type.Optional(
      Type.Union([Type.Literal('configured'), EnvelopeId], {
        description: 'the right that let a call pass: `configured`, or the id of a grant or an invitation',
      }),
    ),
    session: Type.Optional(
      Type.String({
        pattern: envelopeId.source,
        description: 'the program of the sender that began a run, or called or proposed',
      }),
    ),
    payload: Type.Object({}),
  },
  { $id: 'envelope', title: 'Envelope', additionalProperties: false },
)
/** An envelope of any kind; `AnyEnvelope` narrows `payload` by `kind`. */
export type Envelope = Omit<Static<typeof Envelope>, 'payload'> & { payload: Record<string, unknown> }
