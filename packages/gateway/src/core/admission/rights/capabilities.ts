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

/** Capabilities are given to those who belong to the space, by those who hold them [MEUP-4.13]. */
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

/** A grant is answered by whom it was given to. */
export const answerRights: Right = ({ envelope }, { state }) => {
  for (const id of correlations(envelope)) {
    const grant = state.trust.grants.get(id)
    if (grant === undefined) {
      const message = `no grant ${id} stands: it was revoked or declined, has expired, or never was`
      return { code: 'not_found', path: '/correlationId', message }
    }
    if (grant.recipient !== envelope.from) return forbidden(`${id} was granted to ${grant.recipient}`)
  }
  return undefined
}

export const stranger = (path: string, id: string): Refusal => ({
  code: 'participant_not_found',
  path,
  message: `There is no participant ${id} in this space.`,
})

/** Grantors take back what they gave, and need no capability for it [MEUP-4.15]. */
export const revokesOwn: Exemption = ({ kind, from, payload }, { state }) => {
  if (kind !== Kind.capabilityRevoke) return false
  const { recipient, grantId } = payload as Partial<RevokePayload>
  if (grantId !== undefined) return state.trust.grants.get(grantId)?.grantor === from
  return state.trust.grants.list().some((each) => each.grantor === from && each.recipient === recipient)
}

/** Others revoke what they did not give where the operator lets them; what was granted gives no such power. */
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
    return forbidden(`${grantId} is revoked by ${grant.grantor}, or by whom the operator lets revoke`)
  }
  const what = grantId === undefined ? 'no grant with only such capabilities' : `no grant ${grantId}`
  const message = `${what} stands for ${recipient} that ${envelope.from} may revoke. It may have fallen already.`
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
  /** JSON pointer to who gets it. */
  readonly path: string
  readonly capabilities: readonly Capability[]
  readonly expiresAt?: string
  /** What the recipient was granted before and keeps. */
  readonly existing: readonly Capability[]
}

/** Nobody gives to itself, nor for a time that is over, nor what it does not provably hold [MEUP-4.13]. */
export function checkGift(gift: Gift, now: number, state: SpaceState, meter: WorkMeter): Refusal | undefined {
  const { from, to, path, capabilities, expiresAt } = gift
  if (from === to) return forbidden(`${from} cannot give itself anything; ask one that holds more`, path)
  return (
    checkPatterns(capabilities, meter) ??
    notInFuture('/payload/expiresAt', expiresAt, now) ??
    checkGrantLimits(gift, state, meter) ??
    checkCoverage(gift, state, meter)
  )
}

/** What does not compile is refused where it stands [MEUP-4.8], and too much of it at once. */
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

/** Index of the first of these that a participant does not provably hold; -1 = it holds them all. */
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
    message: `${from} does not provably hold capability ${index} of these. Give what your own capabilities cover.`,
    details: { index, capability: capabilities[index] },
  }
}

/** What was granted to one participant has the limits of one list, and there is an end to grants. */
function checkGrantLimits(
  { from, to, capabilities, existing }: Gift,
  { trust }: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  chargeRows(meter, trust.grants.size, 'grants to look at')
  if (trust.grants.size >= standingGrants.all) {
    return forbidden(`${standingGrants.all} grants stand in this space already. Revoke some first.`)
  }
  if (trust.grants.count(from) >= standingGrants.own) {
    return forbidden(`${standingGrants.own} grants of ${from} stand already. Revoke some first.`)
  }
  // Where nothing is kept beside it, it takes the place of all that was given before.
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
