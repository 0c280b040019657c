import { decodeProtectedHeader, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import type { Authenticator } from '../../ports/authenticator.js'
import { type Clock, systemClock } from '../../ports/clock.js'
import { type Logger, silent } from '../../ports/logger.js'
import { atMost } from './jwt/at-most.js'
import { clockTolerance, identityOf, RefusedToken } from './jwt/claims.js'
import { type Keys, keysOf } from './jwt/keys.js'

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
const mostChecks = 4
/** Milliseconds for which the operator is told one reason once; so many reasons are remembered. */
const [quietMs, mostReasons] = [60_000, 100]

/** Takes JSON Web Tokens of one issuer; everything else is left to others. */
export function jwtAuthenticator(
  settings: JwtSettings | undefined,
  { clock = systemClock, logger = silent }: { readonly clock?: Clock; readonly logger?: Logger } = {},
): JwtAuthenticator {
  let current = settings && verifierOf(settings, clock)
  const tell = teller(clock, logger)
  return {
    get settings() {
      return current?.settings
    },
    async authenticate(space, token) {
      const verifier = current
      if (verifier === undefined || !isJwt(token)) return undefined
      try {
        const identity = identityOf(await verifier.verify(token), space, clock.now() / 1000)
        const isCurrent = (): boolean => current === verifier
        return isCurrent() ? { ...identity, isCurrent } : undefined
      } catch (error) {
        tell(space, error)
        return undefined
      }
    },
    replace(next) {
      const isSame = JSON.stringify(next) === JSON.stringify(current?.settings)
      if (!isSame) current = next && verifierOf(next, clock)
    },
  }
}

interface Verifier {
  readonly settings: JwtSettings
  verify(token: string): Promise<JWTPayload>
}

function verifierOf(settings: JwtSettings, clock: Clock): Verifier {
  const { issuer, audience, jwks } = settings
  const keys: Keys = keysOf(jwks)
  const inTurn = atMost(mostChecks)
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
      const { payload } = await inTurn(() => jwtVerify(token, key, options))
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
  const told = new Map<string, number>()
  return (space, error) => {
    const { message, cause } = error instanceof Error ? error : new Error(String(error))
    const reason = cause instanceof Error ? `${message}: ${cause.message}` : message
    if (clock.now() < (told.get(reason) ?? 0)) return
    if (told.size >= mostReasons) told.clear()
    told.set(reason, clock.now() + quietMs)
    logger.warn({ space, reason }, 'a token was refused')
  }
}
