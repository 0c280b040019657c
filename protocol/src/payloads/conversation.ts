import { type Static, Type } from '@sinclair/typebox'
import { EnvelopeId, Timestamp } from '../envelope.js'

type Json = Record<string, unknown>

/** The shape that chat and the reasoning kinds share [MEUP-3.3]. */
export const MessagePayload = Type.Object({
  message: Type.Optional(Type.String()),
  format: Type.Optional(Type.Union([Type.Literal('plain'), Type.Literal('markdown')])),
})
export type MessagePayload = Static<typeof MessagePayload>

export const ChatPayload = Type.Object({ ...MessagePayload.properties, message: Type.String() })
export type ChatPayload = Static<typeof ChatPayload>

export const AcknowledgePayload = Type.Object({ status: Type.Optional(Type.String()) })
export type AcknowledgePayload = Static<typeof AcknowledgePayload>

export const ReasonPayload = Type.Object({ reason: Type.Optional(Type.String()) })
export type ReasonPayload = Static<typeof ReasonPayload>

const metadata = Type.Optional(
  Type.Unsafe<Json>({
    type: 'object',
    description: 'model, thinkingLevel, approach, confidence and any other key',
  }),
)
const references = Type.Optional(Type.Array(Type.String()))

export const ReasoningStartPayload = Type.Composite([MessagePayload, Type.Object({ references, metadata })])
export type ReasoningStartPayload = Static<typeof ReasoningStartPayload>

/** `thinking` when absent. */
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

/** An MCP JSON-RPC request or notification, relayed untouched: only `method` is looked at. */
export const McpRequestPayload = Type.Object({
  jsonrpc: Type.Optional(Type.Unknown()),
  id: Type.Optional(Type.Unsafe<string | number | null>({})),
  method: Type.String({ minLength: 1 }),
  params: Type.Optional(Type.Unsafe<Json>({})),
})
export type McpRequestPayload = Static<typeof McpRequestPayload>

/** An MCP JSON-RPC response, relayed untouched: it has a result or an error. */
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

/** What one connection wants to see; absent = everything [MEUP-9.1]. */
export const SubscribePayload = Type.Object(
  {
    reasoning: Type.Optional(
      Type.Union([Type.Literal('full'), Type.Literal('boundaries'), Type.Literal('none')]),
    ),
    contexts: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
    excludeContexts: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
    from: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
    kinds: Type.Optional(Type.Array(pattern, { minItems: 1, maxItems: 64 })),
  },
  { additionalProperties: false },
)
export type SubscribePayload = Static<typeof SubscribePayload>

/** Whether the thoughts of a run may be seen, by whomever [MEUP-9.5]. */
export const VisibilityPayload = Type.Object(
  { context: EnvelopeId, reasoningVisible: Type.Boolean() },
  { additionalProperties: false },
)
export type VisibilityPayload = Static<typeof VisibilityPayload>
