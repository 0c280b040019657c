/** Every kind this version defines. The only place where kinds are spelled. */
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
  systemError: 'system.error',
  systemPresence: 'system.presence',
  systemDecision: 'system.decision',
  systemSpace: 'system.space',
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

/** The reasoning kinds an agent needs; everything else under `reasoning.` is optional [MEUP-3.3]. */
export const coreReasoningKinds = [
  Kind.reasoningStart,
  Kind.reasoningThought,
  Kind.reasoningConclusion,
] as const

/** Not a kind: the capability that lets its holder read what is addressed to others [MEUP-8.1]. */
export const READ_TARGETED = 'observe.targeted'

/** Not a kind: the capability that lets its holder erase envelopes [MEUP-10.10]. */
export const ERASE = 'space.erase'

/** Capabilities that only their literal confers: no glob does [MEUP-4.11]. */
export const literalCapabilities: ReadonlySet<string> = new Set([READ_TARGETED, ERASE])

/** No kind either: in capabilities it stands for `reasoning.thought` alone [MEUP-4.4]. */
export const STEP_ALIAS = 'reasoning.step'

/** What the exact kind `chat` of a capability stands for [MEUP-4.7]. */
export const chatKinds: readonly string[] = [Kind.chat, Kind.chatAcknowledge, Kind.chatCancel, Kind.chatDelta]

/** Namespaces whose kinds this specification owns; all others are free [MEUP-3.1]. */
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

/** `mcp` of `mcp.request`. */
export function namespaceOf(kind: string): string {
  const dot = kind.indexOf('.')
  return dot === -1 ? kind : kind.slice(0, dot)
}

/** Namespaces of the kinds that may be erased; the others build state that nothing else tells [MEUP-10.10]. */
export const erasableNamespaces: readonly string[] = ['chat', 'reasoning', 'mcp']
export const isErasable = (kind: string): boolean => erasableNamespaces.includes(namespaceOf(kind))

const boundaries: ReadonlySet<string> = new Set([
  Kind.reasoningStart,
  Kind.reasoningConclusion,
  Kind.reasoningCancel,
])

/** Reasoning that neither opens nor closes a context: what a hidden run withholds [MEUP-9.6]. */
export const isThought = (kind: string): boolean => namespaceOf(kind) === 'reasoning' && !boundaries.has(kind)

const known: ReadonlySet<string> = new Set(Object.values(Kind))
export const isKnownKind = (kind: string): kind is Kind => known.has(kind)
