import { type Capability, compileCapabilities, imitatedBy, ParticipantId, PatternError } from '@meup/protocol'
import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  type JWTPayload,
  jwtVerify,
} from 'jose'
import { Slots } from '../../core/delivery/log-reads.js'
import { LogThrottle } from '../../core/safety.js'
import type { Authenticator, Identity } from '../../ports/authenticator.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { type Logger, silent } from '../../ports/logger.js'

export interface JwtSettings {
  /** `iss` of the tokens. */
  readonly issuer: string
  /** `aud` of the tokens, or one of them. */
  readonly audience: string
  /** Address of the issuer's public keys, or the keys. */
  readonly jwks: string | JSONWebKeySet
}

export interface JwtAuthenticator extends Authenticator {
  /** Absent = nothing is taken. */
  readonly settings: JwtSettings | undefined
  /**
   * From now on these tokens are good, and no others. Where that is a change, `Gateway.reconfigure` closes what the others
   * have opened. Throws where `jwks` are no keys.
   */
  replace(settings: JwtSettings | undefined): void
}

/** Signatures that only the issuer can make: nobody makes one with what is public. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** Issuers sign other things than access with the same keys. */
const accessToken = /^(application\/)?(at\+)?jwt$/i
const longest = 8192
/** Signatures that are checked at a time, however many ask. */
const maxConcurrentChecks = 4

/** Takes JSON Web Tokens of one issuer; everything else is left to others. */
export function jwtAuthenticator(
  settings: JwtSettings | undefined,
  { clock = systemClock, logger = silent }: { readonly clock?: Clock; readonly logger?: Logger } = {},
): JwtAuthenticator {
  let current = settings && createVerifier(settings, clock)
  const warn = teller(clock, logger)
  return {
    get settings() {
      return current?.settings
    },
    async authenticate(space, token) {
      const verifier = current
      if (verifier === undefined || !isJwt(token)) return undefined
      try {
        const identity = readIdentity(await verifier.verify(token), space, clock.now() / 1000)
        const isCurrent = (): boolean => current === verifier
        return isCurrent() ? { ...identity, isCurrent } : undefined
      } catch (error) {
        warn(space, error)
        return undefined
      }
    },
    replace(next) {
      const isSame = JSON.stringify(next) === JSON.stringify(current?.settings)
      if (!isSame) current = next && createVerifier(next, clock)
    },
  }
}

interface Verifier {
  readonly settings: JwtSettings
  verify(token: string): Promise<JWTPayload>
}

function createVerifier(settings: JwtSettings, clock: Clock): Verifier {
  const { issuer, audience, jwks } = settings
  const keys: Keys = createKeys(jwks)
  const checks = new Slots(maxConcurrentChecks)
  return {
    settings,
    async verify(token) {
      if (token.length > longest) throw new RefusedToken(`the token has more than ${longest} characters`)
      const { alg = '', typ = 'JWT', ...header } = decodeProtectedHeader(token)
      if (!algorithms.includes(alg)) throw new RefusedToken('"alg" is none that is taken')
      if (!accessToken.test(typ)) throw new RefusedToken('"typ" is not that of an access token')
      const key = await keys({ ...header, alg })
      const currentDate = new Date(clock.now())
      const options = { algorithms, issuer, audience, clockTolerance, currentDate, requiredClaims }
      const { payload } = await checks.run(issuer, () => jwtVerify(token, key, options))
      return payload
    },
  }
}

const requiredClaims = ['exp', 'iat', 'sub']

/** Whether it has the shape of one: three parts, the first of them a header. */
function isJwt(token: string): boolean {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return false
  try {
    decodeProtectedHeader(token)
    return true
  } catch {
    return false
  }
}

/** Tells the operator why a token was refused, and nothing of what it holds. */
function teller(clock: Clock, logger: Logger): (space: string, error: unknown) => void {
  const throttle = new LogThrottle()
  return (space, error) => {
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
    if (throttle.due(reason, clock.now()) !== undefined) logger.warn({ space, reason }, 'a token was refused')
  }
}

/** Why a token is not taken, in words for the operator. */
class RefusedToken extends Error {
  override readonly name = 'RefusedToken'
}

/** Seconds that clocks may differ. */
const clockTolerance = 5

const isParticipant = new RegExp(ParticipantId.pattern ?? '')

/** Who the claims of a verified token make its holder in this space. `now` in seconds. Throws `RefusedToken`. */
function readIdentity(
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

/** Milliseconds that the issuer may take to give its keys, and for which it is left alone after it could not. */
const [timeoutDuration, pauseMs] = [3000, 10_000]
/** Keys that are unknown are asked for, but not more often than this (ms): anybody can make one up. */
const cooldownDuration = 30_000

/** Finds the key that a token was signed with. Rejects where there is none, or where the issuer cannot be asked. */
type Keys = (header: JWSHeaderParameters) => Promise<CryptoKey>

/** Keys at an address, fetched when they are needed, or given. Throws where given ones are none. */
function createKeys(jwks: string | JSONWebKeySet): Keys {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks)
  const options = { timeoutDuration, cooldownDuration, [customFetch]: considerateFetch() }
  return createRemoteJWKSet(new URL(jwks), options)
}

/** Fetches a set of keys; where that fails it fails for a while without another try. */
function considerateFetch(): FetchImplementation {
  let failure: { readonly error: unknown; readonly until: number } | undefined
  return async (url, options) => {
    if (failure !== undefined && Date.now() < failure.until) throw failure.error
    try {
      const keys = await fetchKeys(url, options)
      failure = undefined
      return Response.json(keys)
    } catch (error) {
      failure = { error, until: Date.now() + pauseMs }
      throw error
    }
  }
}

async function fetchKeys(url: string, options: RequestInit): Promise<JSONWebKeySet> {
  const response = await fetch(url, options)
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}, not with keys`)
  const keys = (await response.json()) as JSONWebKeySet
  createLocalJWKSet(keys) // Throws where they are none.
  return keys
}
