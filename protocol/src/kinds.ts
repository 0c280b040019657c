/** All kinds of this version of the protocol. No other code spells a kind. */
export const Kind = {
  chat: 'chat',
  chatAcknowledge: 'chat.acknowledge',
  chatCancel: 'chat.cancel',
  chatDelta: 'chat.delta',
  mcpRequest: 'mcp.request',
  mcpResponse: 'mcp.response',
  mcpProposal: 'mcp.proposal',
  mcpWithdraw: 'mcp.withdraw',
  mcpReject: 'mcp.reject',
  reasoningStart: 'reasoning.start',
  reasoningThought: 'reasoning.thought',
  reasoningConclusion: 'reasoning.conclusion',
  reasoningCancel: 'reasoning.cancel',
  observeSubscribe: 'observe.subscribe',
  observeVisibility: 'observe.visibility',
  observeSummary: 'observe.summary',
  observeTyping: 'observe.typing',
  capabilityGrant: 'capability.grant',
  capabilityRevoke: 'capability.revoke',
  capabilityGrantAck: 'capability.grant-ack',
  spaceInvite: 'space.invite',
  spaceInviteAck: 'space.invite-ack',
  spaceKick: 'space.kick',
  participantPause: 'participant.pause',
  participantResume: 'participant.resume',
  participantStatus: 'participant.status',
  participantRequestStatus: 'participant.request-status',
  participantForget: 'participant.forget',
  participantCompact: 'participant.compact',
  participantCompactDone: 'participant.compact-done',
  participantClear: 'participant.clear',
  participantRestart: 'participant.restart',
  participantShutdown: 'participant.shutdown',
  systemWelcome: 'system.welcome',
  systemTick: 'system.tick',
  systemError: 'system.error',
  systemPresence: 'system.presence',
  systemDecision: 'system.decision',
  systemSpace: 'system.space',
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

/** The capability to read envelopes that are addressed to others [MEUP-8.1]. No envelope has this kind. */
export const READ_TARGETED = 'observe.targeted'

/** The capability to erase envelopes [MEUP-10.10]. No envelope has this kind. */
export const ERASE = 'space.erase'

/** Capabilities that only their literal kind grants, not a glob [MEUP-4.11]. */
export const literalCapabilities: ReadonlySet<string> = new Set([READ_TARGETED, ERASE])

/** An alias of `reasoning.thought` in capabilities [MEUP-4.4]. No envelope has this kind. */
export const STEP_ALIAS = 'reasoning.step'

/** The kinds that the exact kind `chat` of a capability includes [MEUP-4.7]. */
export const chatKinds: readonly string[] = [Kind.chat, Kind.chatAcknowledge, Kind.chatCancel, Kind.chatDelta]

/** Namespaces of kinds that this specification defines; all others are free [MEUP-3.1]. */
export const reservedNamespaces: ReadonlySet<string> = new Set([
  'chat',
  'mcp',
  'reasoning',
  'observe',
  'capability',
  'space',
  'participant',
  'system',
  'stream',
])

/** Returns the namespace of a kind: `mcp` of `mcp.request`. */
export function namespaceOf(kind: string): string {
  const dot = kind.indexOf('.')
  return dot === -1 ? kind : kind.slice(0, dot)
}

/** Kinds that build the state of a space: rights, presence, pauses, visibility. They cannot be erased [MEUP-10.12]. */
export const lastingKinds: readonly string[] = [
  Kind.observeVisibility,
  Kind.capabilityGrant,
  Kind.capabilityRevoke,
  Kind.capabilityGrantAck,
  Kind.spaceInvite,
  Kind.spaceKick,
  Kind.participantPause,
  Kind.participantResume,
  Kind.systemPresence,
  Kind.systemSpace,
]
export const isErasable = (kind: string): boolean => !lastingKinds.includes(kind)

const boundaries: ReadonlySet<string> = new Set([
  Kind.reasoningStart,
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
])

/** Whether a kind is reasoning that neither opens nor closes a context. A hidden run withholds it [MEUP-9.6]. */
export const isThought = (kind: string): boolean => namespaceOf(kind) === 'reasoning' && !boundaries.has(kind)

const known: ReadonlySet<string> = new Set(Object.values(Kind))
export const isKnownKind = (kind: string): kind is Kind => known.has(kind)

/** A row of the table of kinds. */
export interface KindRule {
  readonly meaning: string
  /** Envelope fields that the kind requires. */
  readonly requires?: readonly ('to' | 'correlationId' | 'context')[]
  /** `true` if envelopes of the kind may have `rationale` and `parallelGroup`. */
  readonly toolCall?: true
  /** `true` if participants need no capability for the kind. */
  readonly free?: true
  /** `true` if envelopes of the kind are neither logged nor relayed. */
  readonly ephemeral?: true
  /**
   * `true` if envelopes of the kind are relayed at once and not logged. They have no context; if the kind requires
   * `correlationId`, it names one envelope.
   */
  readonly live?: true
  /** `true` if only the gateway sends the kind. */
  readonly gateway?: true
}

type Standing = Omit<KindRule, 'meaning'>

const correlated: Standing = { requires: ['correlationId'] }
const inContext: Standing = { requires: ['context'] }
const addressed: Standing = { requires: ['to'] }
const toolCall: Standing = { toolCall: true }
const ofGateway: Standing = { gateway: true }
const ephemeralOfGateway: Standing = { ephemeral: true, gateway: true }

const rule = (meaning: string, standing: Standing = {}): KindRule => ({ meaning, ...standing })

/** The table of kinds with their requirements and permitted senders [MEUP-3.2]. `payloadSchemas` has their payloads. */
export const kindRules: Readonly<Record<Kind, KindRule>> = {
  [Kind.chat]: rule('a message; the final answer to X has no context and correlationId X'),
  [Kind.chatAcknowledge]: rule('says that a message was taken note of', correlated),
  [Kind.chatCancel]: rule('takes a message back', correlated),
  [Kind.chatDelta]: rule('part of an answer, as it is written', { ...correlated, live: true }),
  [Kind.mcpRequest]: rule('an MCP request or notification, untouched', toolCall),
  [Kind.mcpResponse]: rule('an MCP response, untouched', correlated),
  [Kind.mcpProposal]: rule('asks someone with the capability to do it', toolCall),
  [Kind.mcpWithdraw]: rule('takes a proposal back', {
    ...correlated,
    free: true,
  }),
  [Kind.mcpReject]: rule('refuses a proposal', correlated),
  [Kind.reasoningStart]: rule('opens a context'),
  [Kind.reasoningThought]: rule('a thought', inContext),
  [Kind.reasoningConclusion]: rule('ends a context', inContext),
  [Kind.reasoningCancel]: rule('breaks a context off, or asks its starter to', inContext),
  [Kind.observeSubscribe]: rule('what this connection wants to see', {
    free: true,
    ephemeral: true,
  }),
  [Kind.observeVisibility]: rule('hides or shows the thoughts of a run for everyone'),
  [Kind.observeSummary]: rule('how much was thought in a context, instead of the thoughts', {
    ...inContext,
    ...ephemeralOfGateway,
  }),
  [Kind.observeTyping]: rule('says that its sender writes a message', { free: true, live: true }),
  [Kind.capabilityGrant]: rule('gives capabilities; its id is the grant id'),
  [Kind.capabilityRevoke]: rule('takes granted capabilities back'),
  [Kind.capabilityGrantAck]: rule('answers a grant', { ...correlated, free: true }),
  [Kind.spaceInvite]: rule('makes a new participant'),
  [Kind.spaceInviteAck]: rule('the token, to the inviter alone', ephemeralOfGateway),
  [Kind.spaceKick]: rule('closes a participant out'),
  [Kind.participantPause]: rule('stops a participant from acting', addressed),
  [Kind.participantResume]: rule('lets it act again', addressed),
  [Kind.participantStatus]: rule('how an agent is doing'),
  [Kind.participantRequestStatus]: rule('asks for a status', addressed),
  [Kind.participantForget]: rule('asks an agent to forget', addressed),
  [Kind.participantCompact]: rule('asks an agent to compact its memory', addressed),
  [Kind.participantCompactDone]: rule('says that it did'),
  [Kind.participantClear]: rule('asks an agent to clear its memory', addressed),
  [Kind.participantRestart]: rule('asks an agent to restart', addressed),
  [Kind.participantShutdown]: rule('asks an agent to end', addressed),
  [Kind.systemWelcome]: rule('first frame of a connection', ephemeralOfGateway),
  [Kind.systemTick]: rule('says that the connection works: a frame of this field alone', ephemeralOfGateway),
  [Kind.systemError]: rule('why an envelope was refused', ephemeralOfGateway),
  [Kind.systemPresence]: rule('who came and went', ofGateway),
  [Kind.systemDecision]: rule('what the gateway denied', ofGateway),
  [Kind.systemSpace]: rule('the life of the space', ofGateway),
}

/** Returns the rule of a kind; unknown kinds of reasoning have that of thoughts. `undefined` = unknown kind [MEUP-3.1]. */
export function getKindRule(kind: string): KindRule | undefined {
  if (isKnownKind(kind)) return kindRules[kind]
  return kind.startsWith('reasoning.') ? kindRules[Kind.reasoningThought] : undefined
}

/** Whether the kind is relayed at once and not logged. */
export const isLiveKind = (kind: string): boolean => getKindRule(kind)?.live === true

/** Returns `correlationId`, which may be a string or a list [MEUP-1.1], as a list. */
export function correlations(envelope: {
  readonly correlationId?: string | readonly string[]
}): readonly string[] {
  const { correlationId } = envelope
  if (correlationId === undefined) return []
  return typeof correlationId === 'string' ? [correlationId] : correlationId
}

/** The fields that decide whether the guard, which masks secrets, has to scan an envelope. */
interface Guardable {
  readonly kind: string
  readonly rationale?: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** The part of a payload in which the guard masks secrets: `''` = all of it. @internal */
export type GuardedPart = '' | 'metadata'

/** Whether the guard has to scan an envelope for secrets, or to note that a required rationale is missing [MEUP-6.1, 6.7]. */
export const isGuarded = (envelope: Guardable): boolean =>
  envelope.rationale !== undefined || isToolRequest(envelope) || guardedPart(envelope) !== undefined

/** Whether the envelope is a tool call, which should have a rationale [MEUP-6.7]. */
export const isToolRequest = ({ kind, payload }: Guardable): boolean =>
  payload.method === 'tools/call' && getKindRule(kind)?.toolCall === true

/**
 * Returns the part of a payload in which the guard masks secrets: free text is reasoning or metadata; MCP payloads are not
 * changed [MEUP-6.1]. @internal
 */
export function guardedPart({ kind, payload }: Guardable): GuardedPart | undefined {
  const namespace = namespaceOf(kind)
  if (namespace === 'reasoning') return ''
  return namespace === 'mcp' || payload.metadata === undefined ? undefined : 'metadata'
}
