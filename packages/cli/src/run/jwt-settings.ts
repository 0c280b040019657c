import { readFileSync } from 'node:fs'
import type { JwtAuthenticator, JwtSettings } from '@meup/gateway'
import type { AuthSettings, Config } from '../config/config.js'
import { isAddress } from '../config/notation.js'
import { UsageError } from '../exit.js'

/** Has the tokens of `auth.jwt` taken, and no others. Throws `UsageError` where the keys in its file are none. */
export function takeJwt(authenticator: JwtAuthenticator, { auth: { jwt } }: Config): void {
  try {
    authenticator.replace(jwt && withKeys(jwt))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`auth.jwt.jwks: ${jwt?.jwks} has no keys that can be used: ${reason}`)
  }
}

const withKeys = (jwt: NonNullable<AuthSettings['jwt']>): JwtSettings =>
  isAddress(jwt.jwks) ? jwt : { ...jwt, jwks: JSON.parse(readFileSync(jwt.jwks, 'utf8')) }
