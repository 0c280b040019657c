import type { Static, TSchema } from '@sinclair/typebox'
import { Envelope, Submission } from './envelope.js'
import { Kind, kindRules } from './kinds.js'
import * as payloads from './payloads.js'

const schemas = {
  [Kind.chat]: payloads.ChatPayload,
  [Kind.chatAcknowledge]: payloads.AcknowledgePayload,
  [Kind.chatCancel]: payloads.ReasonPayload,
  [Kind.chatDelta]: payloads.DeltaPayload,
  [Kind.mcpRequest]: payloads.McpRequestPayload,
  [Kind.mcpResponse]: payloads.McpResponsePayload,
  [Kind.mcpProposal]: payloads.McpProposalPayload,
  [Kind.mcpWithdraw]: payloads.McpRefusalPayload,
  [Kind.mcpReject]: payloads.McpRefusalPayload,
  [Kind.reasoningStart]: payloads.ReasoningStartPayload,
  [Kind.reasoningThought]: payloads.ReasoningThoughtPayload,
  [Kind.reasoningConclusion]: payloads.ReasoningConclusionPayload,
  [Kind.reasoningCancel]: payloads.ReasonPayload,
  [Kind.observeSubscribe]: payloads.SubscribePayload,
  [Kind.observeVisibility]: payloads.VisibilityPayload,
  [Kind.observeSummary]: payloads.SummaryPayload,
  [Kind.observeTyping]: payloads.TypingPayload,
  [Kind.capabilityGrant]: payloads.GrantPayload,
  [Kind.capabilityRevoke]: payloads.RevokePayload,
  [Kind.capabilityGrantAck]: payloads.GrantAckPayload,
  [Kind.spaceInvite]: payloads.InvitePayload,
  [Kind.spaceInviteAck]: payloads.InviteAckPayload,
  [Kind.spaceKick]: payloads.KickPayload,
  [Kind.participantPause]: payloads.PausePayload,
  [Kind.participantResume]: payloads.PausePayload,
  [Kind.participantStatus]: payloads.StatusPayload,
  [Kind.participantRequestStatus]: payloads.RequestStatusPayload,
  [Kind.participantForget]: payloads.OpenPayload,
  [Kind.participantCompact]: payloads.OpenPayload,
  [Kind.participantCompactDone]: payloads.OpenPayload,
  [Kind.participantClear]: payloads.OpenPayload,
  [Kind.participantRestart]: payloads.OpenPayload,
  [Kind.participantShutdown]: payloads.OpenPayload,
  [Kind.systemWelcome]: payloads.WelcomePayload,
  [Kind.systemTick]: payloads.OpenPayload,
  [Kind.systemError]: payloads.ErrorPayload,
  [Kind.systemPresence]: payloads.PresencePayload,
  [Kind.systemDecision]: payloads.DecisionPayload,
  [Kind.systemSpace]: payloads.SpacePayload,
} satisfies Record<Kind, TSchema>

export const payloadSchemas: Readonly<Record<Kind, TSchema>> = schemas

export type Payloads = { readonly [K in Kind]: Static<(typeof schemas)[K]> }

/** An envelope of one kind, with the payload of that kind. */
export type EnvelopeOf<K extends Kind> = Omit<Envelope, 'kind' | 'payload'> & {
  kind: K
  payload: Payloads[K]
}

/** A kind outside of this specification. No literal has this type, so comparing `kind` with a literal narrows the payload. */
type OtherKind = `${string}\0${string}`

/** Any envelope, with `payload` by `kind`: `if (envelope.kind === 'chat') envelope.payload.message`. */
export type AnyEnvelope =
  | { [K in Kind]: EnvelopeOf<K> }[Kind]
  | (Omit<Envelope, 'kind' | 'payload'> & { kind: OtherKind; payload: Record<string, unknown> })

/** Compares the kind of an envelope with a kind outside of this specification, for which `===` does not type-check. */
export const isKind = (envelope: { readonly kind: string }, kind: string): boolean => envelope.kind === kind

export type JsonSchema = Readonly<Record<string, unknown>>

/** Copies a TypeBox schema without its symbol keys, which other libraries do not accept. */
export const plainSchema = (schema: TSchema): JsonSchema => JSON.parse(JSON.stringify(schema))

/** Returns the schemas of submissions, of envelopes and of each kind's payload, by name. */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  const payloads = Object.values(Kind).map((kind) => [
    kind,
    { $id: kind, title: kind, description: kindRules[kind].meaning, ...plainSchema(schemas[kind]) },
  ])
  return {
    submission: plainSchema(Submission),
    envelope: plainSchema(Envelope),
    ...Object.fromEntries(payloads),
  }
}

/** A schema as a separate document: for `dist/schema` and the gateway's route [MEUP-11.8]. */
export const schemaDocument = (name: string, schema: JsonSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...schema,
  $id: `${name}.json`,
})
