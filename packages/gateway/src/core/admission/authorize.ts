import { getNarrowestCapability } from '@meup/folds'
import { checkMetered, getKindRule, isKnownKind, Kind, namespaceOf } from '@meup/protocol'
import type { Admission, AdmissionContext, Exemption, Outcome, Right } from './context.js'
import { answerRights, grantRights, revocationRights, revokesOwn } from './rights/capabilities.js'
import {
  decidesVisibility,
  hopRights,
  reasoningRights,
  startRights,
  visibilityRights,
} from './rights/contexts.js'
import { invitationRights, kickRights, pauseRights } from './rights/participants.js'
import { fulfilmentRights, proposalRights, rejectionRights, withdrawalRights } from './rights/proposals.js'
import {
  answersAddressed,
  elicitationRights,
  notificationRights,
  reportsOnCall,
  responseRights,
} from './rights/requests.js'

/** What the state of the space decides beside capabilities, by kind: who owns, who was asked. */
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

/** Other reasoning kinds stand as thoughts do; nothing more is asked of all others. */
function rightsOf(kind: string): readonly Right[] {
  if (isKnownKind(kind)) return rights[kind] ?? []
  return namespaceOf(kind) === 'reasoning' ? [reasoningRights] : []
}

/** Who needs no capability, beside those whose kind needs none: it is about what is theirs. */
const exemptions: readonly Exemption[] = [answersAddressed, reportsOnCall, revokesOwn, decidesVisibility]

/** Capabilities, and what only the owner of a context or the addressee of a request may do [MEUP-4.1]. */
export function authorize(admission: AdmissionContext, space: Admission): Outcome {
  const { envelope } = admission
  const { kind, from } = envelope
  const isAllowed =
    getKindRule(kind)?.free ||
    checkMetered(admission.meter, () => space.state.participants.allows(from, envelope))
  if (!isAllowed && !exemptions.some((isExempt) => isExempt(envelope, space))) {
    return {
      code: 'capability_violation',
      message: `"${from}" is not allowed to send "${kind}". Request a grant, or propose it to somebody who may.`,
      details: {
        capabilities: space.state.participants.capabilities(from),
        missing: getNarrowestCapability(envelope),
      },
    }
  }
  for (const right of rightsOf(kind)) {
    const refusal = right(admission, space)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
