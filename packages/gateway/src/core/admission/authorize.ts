import { checkMetered, getKindRule } from '@meup/protocol'
import type { Admission, AdmissionContext, Outcome } from './context.js'
import { answerRights, grantRights, revocationRights, revokesOwn } from './rights/capabilities.js'
import {
  decidesVisibility,
  hopRights,
  reasoningRights,
  startRights,
  visibilityRights,
} from './rights/contexts.js'
import { invitationRights, kickRights, pauseRights } from './rights/participants.js'
import type { Exemption, Right } from './rights/right.js'
import {
  answersAddressed,
  fulfilmentRights,
  notificationRights,
  proposalRights,
  reportsOnCall,
  responseRights,
} from './rights/tools.js'

/** What the state of the space decides beside capabilities: who owns, who was asked. */
const rights: readonly Right[] = [
  reasoningRights,
  startRights,
  responseRights,
  notificationRights,
  proposalRights,
  fulfilmentRights,
  hopRights,
  grantRights,
  answerRights,
  revocationRights,
  invitationRights,
  kickRights,
  pauseRights,
  visibilityRights,
]

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
      details: { capabilities: space.state.participants.capabilities(from) },
    }
  }
  for (const right of rights) {
    const refusal = right(admission, space)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
