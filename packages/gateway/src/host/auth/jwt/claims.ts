import { type Capability, compileCapabilities, imitatedBy, ParticipantId, PatternError } from '@meup/protocol'
import type { JWTPayload } from 'jose'
import type { Identity } from '../../../ports/authenticator.js'

/** Why a token is not taken, in words for the operator. */
export class RefusedToken extends Error {
  override readonly name = 'RefusedToken'
}

/** Seconds that clocks may differ. */
export const clockTolerance = 5

const isParticipant = new RegExp(ParticipantId.pattern ?? '')

/** Who the claims of a verified token make its holder in this space. `now` in seconds. Throws `RefusedToken`. */
export function identityOf(
  { sub, exp = 0, iat = 0, meup = {} }: JWTPayload,
  space: string,
  now: number,
): Omit<Identity, 'isCurrent'> {
  if (typeof sub !== 'string' || !isParticipant.test(sub)) {
    throw new RefusedToken('"sub" is not the id of a participant')
  }
  const imitated = imitatedBy(sub, [])
  if (imitated !== undefined) throw new RefusedToken(`"sub" could be taken for ${imitated}`)
  // It would count as newer than every token that is issued until then.
  if (iat > now + clockTolerance) throw new RefusedToken('"iat" is in the future: compare the clocks')
  const { spaces, capabilities } = readMeup(meup)
  if (spaces !== undefined && !spaces.includes(space)) throw new RefusedToken(`"meup.spaces" lacks ${space}`)
  return {
    participant: sub,
    expiresAt: (exp + clockTolerance) * 1000,
    membership: { issuedAt: iat, ...(capabilities && { capabilities }) },
  }
}

/** What is misspelt would give more than was meant: it is refused. */
function readMeup(meup: unknown): {
  readonly spaces?: readonly string[]
  readonly capabilities?: readonly Capability[]
} {
  if (typeof meup !== 'object' || meup === null || Array.isArray(meup)) {
    throw new RefusedToken('"meup" is not an object')
  }
  const { spaces, capabilities, ...others } = meup as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new RefusedToken('"meup" has other keys than spaces and capabilities')
  return {
    ...(spaces !== undefined && { spaces: listOfNames(spaces) }),
    ...(capabilities !== undefined && { capabilities: listOfCapabilities(capabilities) }),
  }
}

function listOfNames(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value
  throw new RefusedToken('"meup.spaces" is not a list of names')
}

function listOfCapabilities(value: unknown): readonly Capability[] {
  if (!Array.isArray(value)) throw new RefusedToken('"meup.capabilities" is not a list')
  try {
    compileCapabilities(value)
    return value
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new RefusedToken(`"meup.capabilities"${error.path}: ${error.problem}`)
  }
}
