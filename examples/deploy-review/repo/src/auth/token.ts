import { createHmac, timingSafeEqual } from 'node:crypto'

/** Claims about the bearer of a token. Times are in seconds since 1970. */
export interface Claims {
  readonly sub: string
  readonly scope: readonly string[]
  readonly iat: number
  readonly exp: number
}

export class TokenError extends Error {}

export type Verify = (token: string) => Claims

/** Number of remembered tokens; the oldest makes room for the next. */
const remembered = 10_000

/** Makes the check that every request goes through. It throws `TokenError` for a token that is not to be trusted. */
export function createVerifier(key: string, now: () => number): Verify {
  const verified = new Map<string, Claims>()
  return (token) => {
    const known = verified.get(token)
    if (known !== undefined) return known
    const claims = readClaims(token, key)
    if (claims.iat > now()) throw new TokenError('issued in the future')
    if (claims.exp <= now()) throw new TokenError('expired')
    const [oldest] = verified.keys()
    if (verified.size >= remembered && oldest !== undefined) verified.delete(oldest)
    verified.set(token, claims)
    return claims
  }
}

export function issueToken(claims: Claims, key: string): string {
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${body}.${sign(body, key)}`
}

function readClaims(token: string, key: string): Claims {
  const [body = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0) throw new TokenError('malformed')
  const expected = sign(body, key)
  if (signature.length !== expected.length) throw new TokenError('wrong signature')
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) throw new TokenError('wrong signature')
  return JSON.parse(Buffer.from(body, 'base64url').toString()) as Claims
}

const sign = (body: string, key: string): string => createHmac('sha256', key).update(body).digest('base64url')
