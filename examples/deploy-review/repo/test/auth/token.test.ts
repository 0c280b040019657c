import { describe, expect, test } from 'vitest'
import { type Claims, createVerifier, issueToken, TokenError } from '../../src/auth/token.js'

const key = 'a key for tests'
const claims: Claims = { sub: 'ana', scope: ['orders:read'], iat: 1_000, exp: 1_600 }

/** A verifier whose time is `clock.now`. */
function verifierAt(now: number) {
  const clock = { now }
  return { clock, verify: createVerifier(key, () => clock.now) }
}

describe('signature', () => {
  const { verify } = verifierAt(1_100)
  const [body = '', signature = ''] = issueToken(claims, key).split('.')
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')

  test('accepts a token of ours', () => expect(verify(`${body}.${signature}`)).toEqual(claims))
  test('accepts it again', () => expect(verify(`${body}.${signature}`)).toEqual(claims))
  test('refuses a token signed with another key', () =>
    expect(() => verify(issueToken(claims, 'another key'))).toThrow(TokenError))
  test('refuses claims that were changed', () =>
    expect(() => verify(`${forged}.${signature}`)).toThrow('wrong signature'))
  test('refuses a signature that was cut', () =>
    expect(() => verify(`${body}.${signature.slice(0, 20)}`)).toThrow('wrong signature'))
  test('refuses a token without a signature', () => expect(() => verify(body)).toThrow('wrong signature'))
  test('refuses a token with more parts', () =>
    expect(() => verify(`${body}.${signature}.x`)).toThrow('malformed'))
  test('refuses an empty token', () => expect(() => verify('')).toThrow(TokenError))
})

describe('expiry', () => {
  const token = issueToken(claims, key)

  test('accepts a token until the second before it expires', () =>
    expect(verifierAt(1_599).verify(token)).toEqual(claims))
  test('refuses a token from the second it expires', () =>
    expect(() => verifierAt(1_600).verify(token)).toThrow('expired'))
  test('refuses a token from the future', () =>
    expect(() => verifierAt(999).verify(token)).toThrow('issued in the future'))
  test('refuses an expired token every time', () => {
    const { verify } = verifierAt(2_000)
    for (const _ of [1, 2]) expect(() => verify(token)).toThrow('expired')
  })

  test('refuses a token that expired after its first use', () => {
    const { clock, verify } = verifierAt(1_100)
    verify(token)
    clock.now = 1_600
    expect(() => verify(token)).toThrow('expired')
  })

  test('refuses an expired token after it was used often', () => {
    const { clock, verify } = verifierAt(1_100)
    for (clock.now = 1_100; clock.now < 1_600; clock.now += 100) verify(token)
    expect(() => verify(token)).toThrow('expired')
  })
})
