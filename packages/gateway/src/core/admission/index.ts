import { getNarrowestCapability } from '@meup/folds'
import {
  checkMetered,
  type Envelope,
  getKindRule,
  isGuarded,
  isKnownKind,
  Kind,
  namespaceOf,
  WorkError,
} from '@meup/protocol'
import type { Finding } from '@meup/safety'
import { LogError } from '../../log/error.js'
import type { Logger } from '../../ports/logger.js'
import type { GuardVerdict } from '../decisions.js'
import { isRefusal, type Refusal, refuse } from '../refusal.js'
import { texts } from '../refusal-texts.js'
import { address } from './address.js'
import type { Admission, AdmissionContext, Exemption, Right, Step, StepOutcome } from './admission-context.js'
import {
  deduplicate,
  deliverInviteToken,
  encodeAccepted,
  identifySender,
  invite,
  relay,
  revoke,
  sequence,
} from './identity.js'
import { available, hopRights, limit, limitLog, withRateLimit } from './limits.js'
import { fill, proposeInstead } from './proposed.js'
import { answerRights, grantRights, revocationRights, revokesOwn } from './rights/capabilities.js'
import { decidesVisibility, reasoningRights, startRights, visibilityRights } from './rights/contexts.js'
import { invitationRights, kickRights, pauseRights } from './rights/participants.js'
import { fulfilmentRights, proposalRights, rejectionRights, withdrawalRights } from './rights/proposals.js'
import {
  answersAddressed,
  elicitationRights,
  notificationRights,
  reportsOnCall,
  responseRights,
} from './rights/requests.js'
import { subscribe } from './subscribe.js'
import { decodeSubmission, validateDraft } from './validate.js'

/**
 * The steps of admission, in order. After the last one the group commit (`core/group-commit`) appends the envelope to the log;
 * only then is it acknowledged and delivered (`core/delivery/broadcast`).
 */
export const pipeline: readonly Step[] = [
  decodeSubmission, //     frame → envelope, aliases resolved
  withRateLimit(identifySender), // sets the sender
  available, // refuses while the space takes no envelopes
  withRateLimit(deduplicate), // known id → the original, or duplicate_id
  limit, // charges the class; refuses kicked and paused senders
  complete, // fills in an approval by id, and the audience of a private question
  validateDraft, // checks fields and payload by kind; later steps rely on them
  authorize, // capabilities, owners, addressees
  only(Kind.observeSubscribe, subscribe), // answers it
  relay, // relays chat.delta and observe.typing
  guard, // masks reasoning, rationales and metadata
  invite, // gives space.invite a token
  revoke, // gives capability.revoke the ids of the revoked grants
  encodeAccepted, // encodes what the steps have changed
  limitLog, // charges the bytes that the sender adds to the log
  sequence, // assigns seq and changes the state: admitted
  record, // records the decisions of the guard
  deliverInviteToken, // sends the token to the inviter, once its invitation is logged
]

/** Runs a step for envelopes of one kind. */
function only(kind: Kind, step: Step): Step {
  return (admission, space) => (admission.envelope.kind === kind ? step(admission, space) : undefined)
}

function pass(admission: AdmissionContext, space: Admission): StepOutcome {
  for (const step of pipeline) {
    const outcome = step(admission, space)
    if (outcome !== undefined) return outcome
  }
  return undefined
}

/** Skips most envelopes early: they have neither a context nor a correlation, so no field has to be filled in. */
function complete(admission: AdmissionContext, space: Admission): StepOutcome {
  const { correlationId, context, to } = admission.envelope
  if (correlationId === undefined && context === undefined && to?.length !== 0) return undefined
  return fill(admission, space) ?? address(admission, space)
}

/** Runs the steps. An exception refuses this envelope alone: the steps have not changed the state yet. */
export function attempt(
  admission: AdmissionContext,
  space: Admission & { readonly logger: Logger },
): StepOutcome {
  try {
    return pass(admission, space)
  } catch (err) {
    if (err instanceof WorkError) return refuse('payload_too_large', texts.costlyEnvelope, { what: err.what })
    space.logger.error({ space: space.config.name, err }, 'an envelope could not be decided on')
    return err instanceof LogError
      ? refuse('unavailable', texts.unreadableLog)
      : refuse('internal', texts.failed)
  }
}

/** Checks beyond capabilities by kind, such as who owns a context or who was asked. */
const rights: { readonly [K in Kind]?: readonly Right[] } = {
  [Kind.chat]: [hopRights],
  [Kind.reasoningStart]: [reasoningRights, startRights],
  [Kind.reasoningThought]: [reasoningRights],
  [Kind.reasoningConclusion]: [reasoningRights],
  [Kind.reasoningCancel]: [reasoningRights],
  [Kind.mcpRequest]: [notificationRights, elicitationRights, fulfilmentRights],
  [Kind.mcpResponse]: [responseRights],
  [Kind.mcpProposal]: [proposalRights],
  [Kind.mcpWithdraw]: [withdrawalRights],
  [Kind.mcpReject]: [rejectionRights],
  [Kind.capabilityGrant]: [grantRights],
  [Kind.capabilityGrantAck]: [answerRights],
  [Kind.capabilityRevoke]: [revocationRights],
  [Kind.spaceInvite]: [invitationRights],
  [Kind.spaceKick]: [kickRights],
  [Kind.participantPause]: [pauseRights],
  [Kind.observeVisibility]: [visibilityRights],
}

/** Reasoning kinds without an entry have the rights of thoughts; other kinds have no further checks. */
function rightsOf(kind: string): readonly Right[] {
  if (isKnownKind(kind)) return rights[kind] ?? []
  return namespaceOf(kind) === 'reasoning' ? [reasoningRights] : []
}

/** Cases that need no capability because the envelope is about something of its sender. */
const exemptions: readonly Exemption[] = [answersAddressed, reportsOnCall, revokesOwn, decidesVisibility]

/** Checks capabilities, and what only the owner of a context or an addressee of a request may do [MEUP-4.1]. */
export function authorize(admission: AdmissionContext, space: Admission): StepOutcome {
  const { envelope, meter } = admission
  const { kind, from } = envelope
  const { participants } = space.state
  admission.isUnderstood = true
  const rightFor = (wanted: Envelope): string | undefined =>
    checkMetered(meter, (budget) => participants.rightFor(from, wanted, budget))
  const right = getKindRule(kind)?.free ? 'configured' : rightFor(envelope)
  if (right !== undefined) noteRight(admission, right)
  else if (!exemptions.some((isExempt) => isExempt(envelope, space))) {
    const instead = proposeInstead(admission, (proposal) => rightFor(proposal) !== undefined)
    if (instead !== undefined) {
      if (isRefusal(instead)) return instead
      Object.assign(admission, instead)
      admission.isRewritten = true
      return checkRights(admission, space)
    }
    const details = {
      capabilities: participants.capabilities(from),
      missing: getNarrowestCapability(envelope),
    }
    return refuse('capability_violation', texts.missingCapability, { from, kind }, { details })
  }
  return checkRights(admission, space)
}

function checkRights(admission: AdmissionContext, space: Admission): Refusal | undefined {
  for (const right of rightsOf(admission.envelope.kind)) {
    const refusal = right(admission, space)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** Records which right let a call pass [MEUP-4.22]. */
function noteRight(admission: AdmissionContext, right: string): void {
  const { envelope } = admission
  if (envelope.kind !== Kind.mcpRequest || envelope.payload.id === undefined) return
  envelope.allowedBy = right
  admission.isRewritten = true
}

/**
 * Masks and withholds parts of reasoning, rationales and metadata [MEUP-6.1]. Never refuses an envelope [MEUP-6.8]; one that it
 * does not change keeps its bytes.
 */
function guard(admission: AdmissionContext, space: Admission): StepOutcome {
  const { envelope } = admission
  if (!isGuarded(envelope)) return undefined
  const {
    rationale,
    payload,
    findings,
    unscanned = 0,
  } = space.safety.rewrite(envelope, admission.payload, admission.meter)
  admission.verdicts = [...verdictsOn(findings), ...verdictsOnUnscanned(unscanned)]
  if (rationale === undefined && payload === undefined) return undefined
  if (rationale === '') delete envelope.rationale
  else if (rationale !== undefined) envelope.rationale = rationale
  if (payload !== undefined) {
    admission.payload = Buffer.from(payload)
    envelope.payload = JSON.parse(payload) as Record<string, unknown>
  }
  admission.isRewritten = true
  return undefined
}

/** Records the decisions of the guard after the envelope that they are about [MEUP-6.3]. */
function record(admission: AdmissionContext, space: Admission): StepOutcome {
  const { verdicts = [], sender, meter, envelope } = admission
  for (const verdict of verdicts) {
    space.decisions.record({ sender, meter, envelope, isPublic: space.isPublic(envelope) }, verdict)
  }
  return undefined
}

const verdictsOn = (findings: readonly Finding[]): GuardVerdict[] =>
  findings.flatMap(({ rule, action }) => {
    if (action === 'block') {
      return { decision: 'blocked', reasonCode: rule, message: `the rule ${rule} withholds a text of it` }
    }
    return action === 'review'
      ? { decision: 'review', reasonCode: rule, message: `the rule ${rule} asks for a look at it` }
      : []
  })

const verdictsOnUnscanned = (texts: number): GuardVerdict[] => {
  if (texts === 0) return []
  const message = `${texts} of its texts are withheld, since scanning them costs too much. Send less at once.`
  return [{ decision: 'blocked', reasonCode: 'payload_too_large', message }]
}
