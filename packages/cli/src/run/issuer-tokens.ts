import { readFileSync } from 'node:fs'
import type { Authenticator, Identity, Logger } from '@meup/gateway'
import type { JwtAuthenticator, JwtSettings } from '@meup/gateway/jwt'
import type { AuthSettings, Config } from '../config/config.js'
import { isAddress } from '../config/notation.js'
import { UsageError } from '../exit.js'

/** Tokens of an issuer, where `auth.jwt` names one; what checks them is loaded when there is one. */
export class IssuerTokens implements Authenticator {
  readonly #logger: Logger
  #authenticator: JwtAuthenticator | undefined

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get settings(): JwtSettings | undefined {
    return this.#authenticator?.settings
  }

  async authenticate(space: string, token: string): Promise<Identity | undefined> {
    return this.#authenticator?.authenticate(space, token)
  }

  /** Has the tokens of `auth.jwt` taken, and no others. Rejects with `UsageError` where the keys in its file are none. */
  async replace({ auth: { jwt } }: Config): Promise<void> {
    if (jwt === undefined) {
      this.#authenticator?.replace(undefined)
      return
    }
    const { jwtAuthenticator } = await import('@meup/gateway/jwt')
    this.#authenticator ??= jwtAuthenticator(undefined, { logger: this.#logger })
    try {
      this.#authenticator.replace(withKeys(jwt))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new UsageError(`auth.jwt.jwks: ${jwt.jwks} has no keys that can be used: ${reason}`)
    }
  }
}

const withKeys = (jwt: NonNullable<AuthSettings['jwt']>): JwtSettings =>
  isAddress(jwt.jwks) ? jwt : { ...jwt, jwks: JSON.parse(readFileSync(jwt.jwks, 'utf8')) }
