import {
  type Capability,
  Coverage,
  compileCapabilities,
  givenText,
  PatternError,
  patternLimits,
  standingGrants,
  type WorkMeter,
} from '@meup/protocol'
import type { SpaceState } from '../../state/state.js'
import { lengthOf } from '../../state/trust/grants.js'
import type { Refusal } from '../context.js'
import { chargeRows } from '../work.js'
import { notInFuture } from './future.js'
import { forbidden } from './right.js'

/** What somebody gives away, and to whom. */
export interface Gift {
  readonly from: string
  readonly to: string
  /** JSON pointer to who gets it. */
  readonly path: string
  readonly capabilities: readonly Capability[]
  readonly expiresAt?: string
  /** What the recipient was granted before and keeps. */
  readonly beside: readonly Capability[]
}

/** Nobody gives to itself, nor for a time that is over, nor what it does not provably hold [MEUP-4.13]. */
export function giftRefusal(
  gift: Gift,
  now: number,
  state: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  const { from, to, path, capabilities, expiresAt } = gift
  if (from === to) return forbidden(`${from} cannot give itself anything; ask one that holds more`, path)
  return (
    patternRefusal(capabilities, meter) ??
    notInFuture('/payload/expiresAt', expiresAt, now) ??
    crowdRefusal(gift, state, meter) ??
    excessRefusal(gift, state, meter)
  )
}

/** What does not compile is refused where it stands [MEUP-4.8], and too much of it at once. */
export function patternRefusal(capabilities: readonly Capability[], meter: WorkMeter): Refusal | undefined {
  if (JSON.stringify(capabilities).length > givenText.list) {
    const path = '/payload/capabilities'
    return {
      code: 'invalid_payload',
      path,
      message: `${path} has more than ${givenText.list} characters; use globs`,
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

function excessRefusal(
  { from, capabilities }: Gift,
  state: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  const index = firstBeyond(from, capabilities, state, meter)
  if (index === -1) return undefined
  return {
    code: 'grant_exceeds_own',
    path: `/payload/capabilities/${index}`,
    message: `${from} does not provably hold capability ${index} of these; give what your own capabilities cover`,
    details: { index, capability: capabilities[index] },
  }
}

/** What was granted to one participant has the limits of one list, and there is an end to grants. */
function crowdRefusal(
  { from, to, capabilities, beside }: Gift,
  { trust }: SpaceState,
  meter: WorkMeter,
): Refusal | undefined {
  chargeRows(meter, trust.grants.size, 'grants to look at')
  if (trust.grants.size >= standingGrants.all) {
    return forbidden(`${standingGrants.all} grants stand in this space already; revoke some first`)
  }
  if (trust.grants.countOf(from) >= standingGrants.own) {
    return forbidden(`${standingGrants.own} grants of ${from} stand already; revoke some first`)
  }
  // Where nothing is kept beside it, it takes the place of all that was given before.
  const given = trust.grants.textBeside(beside.length === 0 ? to : undefined, from)
  const more = lengthOf(capabilities)
  if (given.own + more > givenText.own) {
    return forbidden(`${from} has given ${givenText.own} characters of capabilities; revoke some first`)
  }
  if (given.all + more > givenText.all) {
    return forbidden(
      `${givenText.all} characters of capabilities are granted in this space; revoke some first`,
    )
  }
  const granted = [...beside, ...capabilities]
  if (granted.length > patternLimits.capabilities) {
    const most = `at most ${patternLimits.capabilities}`
    return forbidden(`${to} would hold ${granted.length} granted capabilities, ${most}; revoke some first`)
  }
  if (beside.length === 0 || patternRefusal(granted, meter) === undefined) return undefined
  return forbidden(
    `${to} would hold too many regular expressions, or too much text; revoke some grants first`,
  )
}
