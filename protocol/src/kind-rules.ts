import type { Static, TSchema } from '@sinclair/typebox'
import { Envelope, Submission } from './envelope.js'
import { isKnownKind, Kind } from './kinds.js'
import * as payloads from './payloads.js'

/** A row of the table of kinds. */
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

type Standing = Omit<KindRule, 'payload' | 'meaning'>

const correlated: Standing = { requires: ['correlationId'] }
const inContext: Standing = { requires: ['context'] }
const addressed: Standing = { requires: ['to'] }
const toolCall: Standing = { toolCall: true }
const ofGateway: Standing = { gateway: true }
const ephemeralOfGateway: Standing = { ephemeral: true, gateway: true }

const rule = <Payload extends TSchema>(payload: Payload, meaning: string, standing: Standing = {}) => ({
  payload,
  meaning,
  ...standing,
})

/** The table of kinds: the schema of each, what it requires, and who may send it [MEUP-3.2]. */
const rules = {
  [Kind.chat]: rule(
    payloads.ChatPayload,
    'a message; the final answer to X has no context and correlationId X',
  ),
  [Kind.chatAcknowledge]: rule(
    payloads.AcknowledgePayload,
    'says that a message was taken note of',
    correlated,
  ),
  [Kind.chatCancel]: rule(payloads.ReasonPayload, 'takes a message back', correlated),
  [Kind.mcpRequest]: rule(payloads.McpRequestPayload, 'an MCP request or notification, untouched', toolCall),
  [Kind.mcpResponse]: rule(payloads.McpResponsePayload, 'an MCP response, untouched', correlated),
  [Kind.mcpProposal]: rule(
    payloads.McpProposalPayload,
    'asks someone with the capability to do it',
    toolCall,
  ),
  [Kind.mcpWithdraw]: rule(payloads.McpRefusalPayload, 'takes a proposal back', {
    ...correlated,
    free: true,
  }),
  [Kind.mcpReject]: rule(payloads.McpRefusalPayload, 'refuses a proposal', correlated),
  [Kind.reasoningStart]: rule(payloads.ReasoningStartPayload, 'opens a context'),
  [Kind.reasoningThought]: rule(payloads.ReasoningThoughtPayload, 'a thought', inContext),
  [Kind.reasoningConclusion]: rule(payloads.ReasoningConclusionPayload, 'ends a context', inContext),
  [Kind.reasoningCancel]: rule(
    payloads.ReasonPayload,
    'breaks a context off, or asks its starter to',
    inContext,
  ),
  [Kind.observeSubscribe]: rule(payloads.SubscribePayload, 'what this connection wants to see', {
    free: true,
    ephemeral: true,
  }),
  [Kind.observeVisibility]: rule(
    payloads.VisibilityPayload,
    'hides or shows the thoughts of a run for everyone',
  ),
  [Kind.capabilityGrant]: rule(payloads.GrantPayload, 'gives capabilities; its id is the grant id'),
  [Kind.capabilityRevoke]: rule(payloads.RevokePayload, 'takes granted capabilities back'),
  [Kind.capabilityGrantAck]: rule(payloads.GrantAckPayload, 'answers a grant', { ...correlated, free: true }),
  [Kind.spaceInvite]: rule(payloads.InvitePayload, 'makes a new participant'),
  [Kind.spaceInviteAck]: rule(
    payloads.InviteAckPayload,
    'the token, to the inviter alone',
    ephemeralOfGateway,
  ),
  [Kind.spaceKick]: rule(payloads.KickPayload, 'closes a participant out'),
  [Kind.participantPause]: rule(payloads.PausePayload, 'stops a participant from acting', addressed),
  [Kind.participantResume]: rule(payloads.PausePayload, 'lets it act again', addressed),
  [Kind.participantStatus]: rule(payloads.StatusPayload, 'how an agent is doing'),
  [Kind.participantRequestStatus]: rule(payloads.RequestStatusPayload, 'asks for a status', addressed),
  [Kind.participantForget]: rule(payloads.OpenPayload, 'asks an agent to forget', addressed),
  [Kind.participantCompact]: rule(payloads.OpenPayload, 'asks an agent to compact its memory', addressed),
  [Kind.participantCompactDone]: rule(payloads.OpenPayload, 'says that it did'),
  [Kind.participantClear]: rule(payloads.OpenPayload, 'asks an agent to clear its memory', addressed),
  [Kind.participantRestart]: rule(payloads.OpenPayload, 'asks an agent to restart', addressed),
  [Kind.participantShutdown]: rule(payloads.OpenPayload, 'asks an agent to end', addressed),
  [Kind.systemWelcome]: rule(payloads.WelcomePayload, 'first frame of a connection', ephemeralOfGateway),
  [Kind.systemError]: rule(payloads.ErrorPayload, 'why an envelope was refused', ephemeralOfGateway),
  [Kind.systemPresence]: rule(payloads.PresencePayload, 'who came and went', ofGateway),
  [Kind.systemDecision]: rule(payloads.DecisionPayload, 'what the gateway denied', ofGateway),
  [Kind.systemSpace]: rule(payloads.SpacePayload, 'the life of the space', ofGateway),
} satisfies Record<Kind, KindRule>

export const kindRules: Readonly<Record<Kind, KindRule>> = rules

/** The rule of a kind; unknown reasoning kinds stand as thoughts do. `undefined` = nothing is known of it [MEUP-3.1]. */
export function getKindRule(kind: string): KindRule | undefined {
  if (isKnownKind(kind)) return rules[kind]
  return kind.startsWith('reasoning.') ? rules[Kind.reasoningThought] : undefined
}

/** Payload type of each kind. */
export type Payloads = { readonly [K in Kind]: Static<(typeof rules)[K]['payload']> }

/** An envelope of one kind, with the payload of that kind. */
export type EnvelopeOf<K extends Kind> = Omit<Envelope, 'kind' | 'payload'> & {
  kind: K
  payload: Payloads[K]
}

/** A kind outside this specification. No literal equals this type, so that comparing `kind` narrows the others. */
type OtherKind = `${string}\0${string}`

/** Any envelope: `if (envelope.kind === 'chat') envelope.payload.message`. */
export type AnyEnvelope =
  | { [K in Kind]: EnvelopeOf<K> }[Kind]
  | (Omit<Envelope, 'kind' | 'payload'> & { kind: OtherKind; payload: Record<string, unknown> })

/** Tests for a kind that this specification does not know, where comparing with `===` cannot. */
export const isKind = (envelope: { readonly kind: string }, kind: string): boolean => envelope.kind === kind

export type JsonSchema = Readonly<Record<string, unknown>>

/** TypeBox keeps symbols in its schemas, which other libraries trip over. */
export const plainSchema = (schema: TSchema): JsonSchema => JSON.parse(JSON.stringify(schema))

/** JSON Schema of an envelope, of a submission, and of every kind's payload, by name; `$id` is the name. */
export function jsonSchemas(): Readonly<Record<string, JsonSchema>> {
  const payloads = Object.entries(kindRules).map(([kind, { meaning, payload }]) => [
    kind,
    { $id: kind, title: kind, description: meaning, ...plainSchema(payload) },
  ])
  return {
    submission: plainSchema(Submission),
    envelope: plainSchema(Envelope),
    ...Object.fromEntries(payloads),
  }
}

/** One of them as a document of its own: what is in `dist/schema`, and what a gateway serves [MEUP-11.8]. */
export const schemaDocument = (name: string, schema: JsonSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...schema,
  $id: `${name}.json`,
})
