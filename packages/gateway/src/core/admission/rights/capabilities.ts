import { measureCapabilities } from '@meup/folds'
import {
  type Capability,
  Coverage,
  compileCapabilities,
  correlations,
  type GrantPayload,
  givenText,
  Kind,
  PatternError,
  patternLimits,
  type RevokePayload,
  standingGrants,
  type WorkMeter,
} from '@meup/protocol'
import {
  forbidden,
  notInFuture,
  type Refusal,
  refuse,
  setByGateway,
  unknownParticipant,
} from '../../refusal.js'
import { texts } from '../../refusal-texts.js'
import type { SpaceState } from '../../state/state.js'
import { namedIn, revocable } from '../../state/trust/trust-fold.js'
import type { Exemption, Right } from '../admission-context.js'

/** Units of work charged per grant that a check walks through; they are in memory. */
const grantWork = 1 / 16

/** Only members of the space get capabilities, and only from participants that hold them [MEUP-4.13]. */
export const grantRights: Right = ({ envelope, now, meter }, { state }) => {
  const { recipient, ...given } = envelope.payload as GrantPayload
  if (!state.participants.has(recipient)) return unknownParticipant('/payload/recipient', recipient)
  const existing = state.participants.granted(recipient)
  return checkGift(
    { ...given, from: envelope.from, to: recipient, path: '/payload/recipient', existing },
    now,
    state,
    meter,
  )
}

/** Only the recipient of a grant accepts or declines it. */
export const answerRights: Right = ({ envelope }, { state }) => {
  for (const id of correlations(envelope)) {
    const grant = state.trust.grants.get(id)
    if (grant === undefined)
      return refuse('not_found', texts.unknownGrant, { id }, { path: '/correlationId' })
    if (grant.recipient !== envelope.from)
      return forbidden(texts.othersGrant, { id, recipient: grant.recipient })
  }
  return undefined
}

/** A grantor may revoke its own grants without a capability [MEUP-4.15]. */
export const revokesOwn: Exemption = ({ kind, from, payload }, { state }) => {
  if (kind !== Kind.capabilityRevoke) return false
  const { recipient, grantId } = payload as Partial<RevokePayload>
  if (grantId !== undefined) return state.trust.grants.get(grantId)?.grantor === from
  return state.trust.grants.list().some((each) => each.grantor === from && each.recipient === recipient)
}

/** Revoking the grants of others requires a capability that the operator configured; a granted one does not suffice. */
export const revocationRights: Right = (admission, { state }) => {
  const { envelope, meter } = admission
  if (Object.hasOwn(envelope.payload, 'revoked')) return setByGateway('/payload/revoked')
  const payload = envelope.payload as RevokePayload
  const badPattern = checkPatterns(payload.capabilities ?? [], meter)
  if (badPattern !== undefined) return badPattern
  meter.charge(state.trust.grants.size * grantWork, 'grants to look at')
  const named = namedIn(payload, state.trust, meter)
  admission.revoked = revocable(named, envelope, state.trust)
  if (admission.revoked.length > 0) return undefined
  const { recipient, grantId } = payload
  const [grant] = named
  if (grantId !== undefined && grant !== undefined)
    return forbidden(texts.revokedByOther, { grantor: grant.grantor, id: grantId })
  const what = grantId === undefined ? 'grant with only such capabilities' : `grant ${grantId}`
  const values = { recipient, what, from: envelope.from }
  const path = `/payload/${grantId === undefined ? 'capabilities' : 'grantId'}`
  return refuse('not_found', texts.nothingToRevoke, values, { path })
}

/** Capabilities that a participant grants to another. */
interface Gift {
  readonly from: string
  readonly to: string
  /** JSON pointer to the recipient. */
  readonly path: string
  readonly capabilities: readonly Capability[]
  readonly expiresAt?: string
  /** Capabilities of earlier grants that the recipient keeps. */
  readonly existing: readonly Capability[]
}

/** Refuses grants to oneself, with a past expiry, or beyond what the grantor provably holds [MEUP-4.13]. */
export function checkGift(gift: Gift, now: number, state: SpaceState, meter: WorkMeter): Refusal | undefined {
  const { from, to, path, capabilities, expiresAt } = gift
  if (from === to) return forbidden(texts.ownGrant, { from }, path)
  return (
    checkPatterns(capabilities, meter) ??
    notInFuture('/payload/expiresAt', expiresAt, now) ??
    checkGrantLimits(gift, state, meter) ??
    checkCoverage(gift, state, meter)
  )
}

/** Refuses patterns that do not compile [MEUP-4.8], with their path, and lists that cost too much to check. */
function checkPatterns(capabilities: readonly Capability[], meter: WorkMeter): Refusal | undefined {
  if (JSON.stringify(capabilities).length > givenText.list) {
    const path = '/payload/capabilities'
    return refuse('invalid_payload', texts.longList, { path, characters: givenText.list }, { path })
  }
  try {
    compileCapabilities(capabilities, meter)
    return undefined
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    const path = `/payload/capabilities${error.path}`
    return refuse('invalid_payload', texts.invalidPattern, { path, problem: error.problem }, { path })
  }
}

/** Index of the first capability that the participant does not provably hold; -1 = it holds all. */
export function firstBeyond(
  id: string,
  capabilities: readonly Capability[],
  { participants }: SpaceState,
  meter: WorkMeter,
): number {
  const held = [participants.configured(id), participants.granted(id)]
  return new Coverage().firstGap(held, capabilities, meter)
}

function checkCoverage(
  { from, capabilities }: Gift,
  state: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  const index = firstBeyond(from, capabilities, state, meter)
  if (index === -1) return undefined
  const capability = capabilities[index]
  const values = { from, capability: JSON.stringify(capability) }
  const path = `/payload/capabilities/${index}`
  return refuse('grant_exceeds_own', texts.beyondOwn, values, { path, details: { index, capability } })
}

/** Bounds the capabilities granted to one participant, and the grants of a space. */
function checkGrantLimits(
  { from, to, capabilities, existing }: Gift,
  { trust }: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  meter.charge(trust.grants.size * grantWork, 'grants to look at')
  if (trust.grants.size >= standingGrants.all)
    return forbidden(texts.openGrants, { grants: standingGrants.all })
  if (trust.grants.count(from) >= standingGrants.own)
    return forbidden(texts.ownOpenGrants, { from, grants: standingGrants.own })
  // If the recipient keeps no earlier capabilities, earlier grants to it do not count toward the limits on the text of granted
  // capabilities: there are none, or an invitation replaces all of them.
  const given = trust.grants.textBeside(existing.length === 0 ? to : undefined, from)
  const more = measureCapabilities(capabilities)
  if (given.own + more > givenText.own)
    return forbidden(texts.ownGivenText, { from, characters: givenText.own })
  if (given.all + more > givenText.all) return forbidden(texts.givenText, { characters: givenText.all })
  const granted = [...existing, ...capabilities]
  if (granted.length > patternLimits.capabilities)
    return forbidden(texts.manyCapabilities, {
      to,
      capabilities: granted.length,
      maximum: patternLimits.capabilities,
    })
  if (existing.length === 0 || checkPatterns(granted, meter) === undefined) return undefined
  return forbidden(texts.costlyCapabilities, { to })
}
