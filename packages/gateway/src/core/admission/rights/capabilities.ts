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
import type { SpaceState } from '../../state/state.js'
import { namedIn, revocable } from '../../state/trust/trust-fold.js'
import {
  chargeRows,
  type Exemption,
  forbidden,
  notInFuture,
  type Refusal,
  type Right,
  setByGateway,
} from '../context.js'

/** Only members of the space get capabilities, and only from participants that hold them [MEUP-4.13]. */
export const grantRights: Right = ({ envelope, now, meter }, { state }) => {
  const { recipient, ...given } = envelope.payload as GrantPayload
  if (!state.participants.has(recipient)) return stranger('/payload/recipient', recipient)
  const existing = state.participants.granted(recipient)
  return checkGift(
    { ...given, from: envelope.from, to: recipient, path: '/payload/recipient', existing },
    now,
    state,
    meter,
  )
}

/** Only the recipient of a grant acknowledges it. */
export const answerRights: Right = ({ envelope }, { state }) => {
  for (const id of correlations(envelope)) {
    const grant = state.trust.grants.get(id)
    if (grant === undefined) {
      const message = `no grant ${id} is in force: it was revoked or declined, has expired, or never existed`
      return { code: 'not_found', path: '/correlationId', message }
    }
    if (grant.recipient !== envelope.from)
      return forbidden(`${id} was granted to ${grant.recipient}. Only the recipient acknowledges it.`)
  }
  return undefined
}

export const stranger = (path: string, id: string): Refusal => ({
  code: 'participant_not_found',
  path,
  message: `There is no participant ${id} in this space.`,
})

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
  chargeRows(meter, state.trust.grants.size, 'grants to look at')
  const named = namedIn(payload, state.trust, meter)
  admission.revoked = revocable(named, envelope, state.trust)
  if (admission.revoked.length > 0) return undefined
  const { recipient, grantId } = payload
  const [grant] = named
  if (grantId !== undefined && grant !== undefined) {
    return forbidden(
      `Only ${grant.grantor} revokes ${grantId}, or a participant with a configured capability. Ask one of them.`,
    )
  }
  const what = grantId === undefined ? 'grant with only such capabilities' : `grant ${grantId}`
  const message = `${recipient} has no ${what} that ${envelope.from} may revoke. It may have ended already.`
  return {
    code: 'not_found',
    path: `/payload/${grantId === undefined ? 'capabilities' : 'grantId'}`,
    message,
  }
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
  if (from === to)
    return forbidden(`${from} cannot grant itself capabilities. Ask another participant.`, path)
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
    return {
      code: 'invalid_payload',
      path,
      message: `${path} has more than ${givenText.list} characters. Use globs.`,
    }
  }
  try {
    compileCapabilities(capabilities, meter)
    return undefined
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    const path = `/payload/capabilities${error.path}`
    return { code: 'invalid_payload', path, message: `${path}: ${error.problem}` }
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
  return {
    code: 'grant_exceeds_own',
    path: `/payload/capabilities/${index}`,
    message: `${from} does not provably hold ${JSON.stringify(capabilities[index])}. Give what your own capabilities cover.`,
    details: { index, capability: capabilities[index] },
  }
}

/** Bounds the capabilities granted to one participant, and the grants of a space. */
function checkGrantLimits(
  { from, to, capabilities, existing }: Gift,
  { trust }: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  chargeRows(meter, trust.grants.size, 'grants to look at')
  if (trust.grants.size >= standingGrants.all) {
    return forbidden(`${standingGrants.all} grants are open in this space already. Revoke some first.`)
  }
  if (trust.grants.count(from) >= standingGrants.own) {
    return forbidden(`${standingGrants.own} grants of ${from} are open already. Revoke some first.`)
  }
  // If the recipient keeps no earlier capabilities, this grant replaces all earlier ones of the same grantor, which then do not
  // count.
  const given = trust.grants.textBeside(existing.length === 0 ? to : undefined, from)
  const more = measureCapabilities(capabilities)
  if (given.own + more > givenText.own) {
    return forbidden(`${from} has given ${givenText.own} characters of capabilities. Revoke some first.`)
  }
  if (given.all + more > givenText.all) {
    return forbidden(
      `${givenText.all} characters of capabilities are granted in this space. Revoke some first.`,
    )
  }
  const granted = [...existing, ...capabilities]
  if (granted.length > patternLimits.capabilities) {
    const maximum = `at most ${patternLimits.capabilities}`
    return forbidden(
      `${to} would hold ${granted.length} granted capabilities, ${maximum}. Revoke some first.`,
    )
  }
  if (existing.length === 0 || checkPatterns(granted, meter) === undefined) return undefined
  return forbidden(
    `${to} would hold too many regular expressions, or too much text. Revoke some grants first.`,
  )
}
