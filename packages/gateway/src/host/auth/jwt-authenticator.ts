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
  /** The `iss` claim that accepted tokens must have. */
  readonly issuer: string
  /** The value that the `aud` claim of accepted tokens must be or contain. */
  readonly audience: string
  /** Address of the issuer's public keys, or the keys. */
  readonly jwks: string | JSONWebKeySet
}

export interface JwtAuthenticator extends Authenticator {
  /** `undefined` = no token is accepted. */
  readonly settings: JwtSettings | undefined
  /**
   * Accepts only tokens by these settings from now on. After a change, `Gateway.reconfigure` closes the connections of other
   * tokens. Throws if `jwks` are not valid keys.
   */
  replace(settings: JwtSettings | undefined): void
}

/** Asymmetric algorithms only: with a symmetric one, anyone could sign with the public key. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]
/** Accepted values of the `typ` header: issuers use the same keys to sign tokens that are not access tokens. */
const accessToken = /^(application\/)?(at\+)?jwt$/i
const longest = 8192
/** Concurrent signature checks, of all requests together. */
const maxConcurrentChecks = 4

/** Accepts JSON Web Tokens of one issuer; leaves all others to other authenticators. */
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

/** Whether the text has the shape of a JWT: three parts, the first a header. */
function isJwt(token: string): boolean {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return false
  try {
    decodeProtectedHeader(token)
    return true
  } catch {
    return false
  }
}

/** Logs why a token was refused, without its content. */
function teller(clock: Clock, logger: Logger): (space: string, error: unknown) => void {
  const throttle = new LogThrottle()
  return (space, error) => {
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
    if (throttle.due(reason, clock.now()) !== undefined) logger.warn({ space, reason }, 'a token was refused')
  }
}

/** The reason why a token is not accepted, for the operator. */
class RefusedToken extends Error {
  override readonly name = 'RefusedToken'
}

/** Seconds of clock difference that are tolerated. */
const clockTolerance = 5

const isParticipant = new RegExp(ParticipantId.pattern ?? '')

/** The identity in this space by the claims of a verified token. `now` in seconds. Throws `RefusedToken`. */
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
  // A future time would make the token newer than every token issued until then.
  if (iat > now + clockTolerance) throw new RefusedToken('"iat" is in the future: compare the clocks')
  const { spaces, capabilities } = readMeup(meup)
  if (spaces !== undefined && !spaces.includes(space)) throw new RefusedToken(`"meup.spaces" lacks ${space}`)
  return {
    participant: sub,
    expiresAt: (exp + clockTolerance) * 1000,
    membership: { issuedAt: iat, ...(capabilities && { capabilities }) },
  }
}

/** Refuses unknown members, because a misspelt restriction would grant more than intended. */
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
    throw new RefusedToken(`"meup.capabilities"${error.path} ${error.problem}`)
  }
}

/** Timeout of a request for the keys, and pause after a failed request [milliseconds]. */
const [timeoutDuration, pauseMs] = [3000, 10_000]
/** Minimum milliseconds between requests for unknown keys, which anyone can make up. */
const cooldownDuration = 30_000

/** Finds the key that signed a token. Rejects if there is none, or the issuer cannot be reached. */
type Keys = (header: JWSHeaderParameters) => Promise<CryptoKey>

/** Keys fetched from an address on demand, or given. Throws if the given ones are invalid. */
function createKeys(jwks: string | JSONWebKeySet): Keys {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks)
  const options = { timeoutDuration, cooldownDuration, [customFetch]: considerateFetch() }
  return createRemoteJWKSet(new URL(jwks), options)
}

/** Fetches a set of keys. After a failure it fails for a while without another request. */
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
  createLocalJWKSet(keys) // Throws if they are invalid.
  return keys
}
