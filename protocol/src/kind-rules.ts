import { isKnownKind, Kind } from './kinds.js'

/** A row of the table of kinds. */
export interface KindRule {
  readonly meaning: string
  /** Envelope fields without which the kind makes no sense. */
  readonly requires?: readonly ('to' | 'correlationId' | 'context')[]
  /** May carry `rationale` and `parallelGroup`. */
  readonly toolCall?: true
  /** Everybody may send it. */
  readonly free?: true
  /** Neither logged nor relayed. */
  readonly ephemeral?: true
  /** Relayed at once and not logged; it is about one envelope, and in no context. */
  readonly live?: true
  /** Sent by the gateway alone. */
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

/** The table of kinds: what each requires, and who may send it [MEUP-3.2]. `payloadSchemas` has their payloads. */
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
  [Kind.systemError]: rule('why an envelope was refused', ephemeralOfGateway),
  [Kind.systemPresence]: rule('who came and went', ofGateway),
  [Kind.systemDecision]: rule('what the gateway denied', ofGateway),
  [Kind.systemSpace]: rule('the life of the space', ofGateway),
}

/** The rule of a kind; unknown reasoning kinds stand as thoughts do. `undefined` = nothing is known of it [MEUP-3.1]. */
export function getKindRule(kind: string): KindRule | undefined {
  if (isKnownKind(kind)) return kindRules[kind]
  return kind.startsWith('reasoning.') ? kindRules[Kind.reasoningThought] : undefined
}
