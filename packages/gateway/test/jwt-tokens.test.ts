import { type JwtSettings, jwtAuthenticator } from '@meup/gateway/jwt'
import { FakeClock } from '@meup/gateway/testing'
import { exportSPKI, type JWTPayload, UnsecuredJWT } from 'jose'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import {
  audience,
  issuer,
  type Key,
  keySetOf,
  type Made,
  newKey,
  tokenOf,
} from '../../../test/support/issuer.js'

let key: Key
let settings: JwtSettings
beforeAll(async () => {
  key = await newKey('first')
  settings = { issuer, audience, jwks: keySetOf(key) }
})

/** Authenticates a token. `received`: the logged reasons; none may contain a part of the token. */
async function tried(token: string, more: Partial<JwtSettings> = {}, clock = new FakeClock(Date.now())) {
  const warn = vi.fn()
  const logger = { info: vi.fn(), warn, error: vi.fn() }
  const authenticator = jwtAuthenticator({ ...settings, ...more }, { clock, logger })
  const identity = await authenticator.authenticate('demo', token)
  const received = warn.mock.calls.map(([{ reason }]) => reason as string)
  for (const part of token.split('.').filter(({ length }) => length > 20)) {
    expect(JSON.stringify(warn.mock.calls)).not.toContain(part)
  }
  return { identity, received }
}

const claiming = async (claims: JWTPayload) => tried(await tokenOf(key, { claims }))

describe('a good token', () => {
  test('says who its holder is, until when, and since when', async () => {
    const exp = Math.floor(Date.now() / 1000) + 600
    const { identity, received } = await claiming({ sub: 'dan.d-1_x', iat: exp - 700, exp })
    expect(identity).toEqual({
      participant: 'dan.d-1_x',
      expiresAt: (exp + 5) * 1000,
      membership: { issuedAt: exp - 700 },
      isCurrent: expect.any(Function),
    })
    expect(received).toEqual([])
  })

  test('may say what its holder may do, and where', async () => {
    const capabilities = ['chat', { kind: 'mcp.request', to: 'files' }]
    const { identity } = await claiming({ meup: { spaces: ['other', 'demo'], capabilities } })
    expect(identity?.membership?.capabilities).toEqual(capabilities)
    expect((await claiming({ meup: { capabilities: [] } })).identity?.membership?.capabilities).toEqual([])
    expect((await claiming({ meup: {} })).identity?.membership).toEqual({ issuedAt: expect.any(Number) })
  })

  test('may be for several audiences, and of a stated type', async () => {
    expect((await claiming({ aud: ['elsewhere', audience] })).identity).toBeDefined()
    for (const typ of ['at+jwt', 'application/at+jwt', 'jwt', undefined]) {
      expect((await tried(await tokenOf(key, { header: { typ } }))).identity).toBeDefined()
    }
  })

  test.for([
    'RS256',
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'PS512',
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
    'Ed25519',
  ])('may be signed with %s', async (alg) => {
    const own = await newKey('own', alg)
    expect((await tried(await tokenOf(own), { jwks: keySetOf(key, own) })).identity?.participant).toBe('dan')
  })

  test('is good for five seconds longer, as clocks differ', async () => {
    const now = 1_800_000_000
    const token = await tokenOf(key, { now, claims: { exp: now + 60 } })
    const after = (seconds: number) => tried(token, {}, new FakeClock((now + seconds) * 1000))
    expect((await after(64)).identity?.expiresAt).toBe((now + 65) * 1000)
    expect((await after(65)).identity).toBeUndefined()
    const early = await tokenOf(key, { now, claims: { nbf: now + 100 } })
    expect((await tried(early, {}, new FakeClock((now + 94) * 1000))).identity).toBeUndefined()
    expect((await tried(early, {}, new FakeClock((now + 95) * 1000))).identity).toBeDefined()
  })
})

const now = Math.floor(Date.now() / 1000)

describe('a token is refused, and the operator told why, where', () => {
  test.for<[string, Made, RegExp]>([
    ['it has expired', { claims: { exp: now - 10 } }, /"exp"/],
    ['it does not expire', { claims: { exp: undefined } as unknown as JWTPayload }, /"exp"/],
    ['it does not say when it was issued', { claims: { iat: undefined } as unknown as JWTPayload }, /"iat"/],
    ['it is issued in the future', { claims: { iat: now + 100 } }, /"iat" is in the future/],
    ['it is not good yet', { claims: { nbf: now + 100 } }, /"nbf"/],
    ['another issuer made it', { claims: { iss: 'https://id.example.evil.example' } }, /"iss"/],
    ['it does not say who made it', { claims: { iss: undefined } as unknown as JWTPayload }, /"iss"/],
    ['it is for somebody else', { claims: { aud: 'meup2' } }, /"aud"/],
    ['it does not say for whom it is', { claims: { aud: undefined } as unknown as JWTPayload }, /"aud"/],
    ['it stands for nobody', { claims: { sub: undefined } as unknown as JWTPayload }, /"sub"/],
    ['it stands for nobody with a name', { claims: { sub: '' } }, /"sub"/],
    ['its holder’s name is none', { claims: { sub: 'auth0|5f7c' } }, /"sub"/],
    ['its holder’s name is a number', { claims: { sub: 7 } as unknown as JWTPayload }, /"sub"/],
    ['its holder’s name is too long', { claims: { sub: 'x'.repeat(65) } }, /"sub"/],
    ['its holder would be the gateway', { claims: { sub: 'system:gateway' } }, /"sub"/],
    ['its holder would be a guest', { claims: { sub: 'guest-1' } }, /guest-/],
    ['its holder could be taken for the gateway', { claims: { sub: 'Gate.way' } }, /gateway/],
    ['it is not for this space', { claims: { meup: { spaces: ['other'] } } }, /"meup.spaces" lacks demo/],
    ['it is for no space', { claims: { meup: { spaces: [] } } }, /"meup.spaces"/],
    ['its spaces are no list', { claims: { meup: { spaces: 'demo' } } }, /"meup.spaces" is not a list/],
    ['a space has no name', { claims: { meup: { spaces: ['demo', 1] } } }, /"meup.spaces" is not a list/],
    ['its claims are misspelt', { claims: { meup: { space: ['demo'] } } }, /"meup" has other keys/],
    ['its claims are no object', { claims: { meup: 'demo' } }, /"meup" is not an object/],
    ['its claims are nothing', { claims: { meup: null } }, /"meup" is not an object/],
    [
      'its capabilities are no list',
      { claims: { meup: { capabilities: '*' } } },
      /capabilities" is not a list/,
    ],
    ['a capability is none', { claims: { meup: { capabilities: ['!!x'] } } }, /"meup.capabilities"\/0/],
    ['it is of another type', { header: { typ: 'logout+jwt' } }, /"typ"/],
    ['its key is another one’s', { header: { kid: 'unknown' } }, /no applicable key/i],
    ['it asks for what is not known', { header: { crit: ['x'], x: 1 } }, /crit|"x"/],
  ])('%s', async ([, made, reason]) => {
    const { identity, received } = await tried(await tokenOf(key, made))
    expect(identity).toBeUndefined()
    expect(received).toEqual([expect.stringMatching(reason)])
  })

  test('it is not signed', async () => {
    const claims = { iss: issuer, aud: audience, sub: 'dan', exp: now + 600 }
    const unsecured = new UnsecuredJWT(claims).encode()
    expect(await tried(unsecured)).toEqual({
      identity: undefined,
      received: [expect.stringMatching(/"alg"/)],
    })
    const [, payload] = (await tokenOf(key)).split('.')
    const header = Buffer.from('{"alg":"none"}').toString('base64url')
    for (const alg of ['none', 'NONE', 'None']) {
      const own = Buffer.from(JSON.stringify({ alg })).toString('base64url')
      expect((await tried(`${own}.${payload}.`)).identity).toBeUndefined()
    }
    expect((await tried(`${header}.${payload}.AAAA`)).identity).toBeUndefined()
  })

  test.for(['HS256', 'HS384', 'HS512'])('it is signed with %s and what is public', async (alg) => {
    const rsa = await newKey('rsa', 'RS256')
    const jwks = keySetOf(rsa)
    const secrets = [await exportSPKI(rsa.publicKey), JSON.stringify(rsa.jwk), rsa.jwk.n ?? '']
    for (const secret of secrets) {
      const signer = new Uint8Array(Buffer.from(secret.padEnd(64)))
      const token = await tokenOf(rsa, { header: { alg }, with: signer })
      expect(await tried(token, { jwks })).toEqual({
        identity: undefined,
        received: [expect.stringMatching(/"alg"/)],
      })
    }
  })

  test('somebody else signed it under the name of the key', async () => {
    const foreign = await newKey('first')
    const { identity, received } = await tried(await tokenOf(foreign))
    expect([identity, received]).toEqual([undefined, [expect.stringMatching(/signature/)]])
    const embedded = await tokenOf(foreign, { header: { jwk: foreign.jwk, jku: 'http://evil.example/' } })
    expect((await tried(embedded)).identity).toBeUndefined()
  })

  test('it has been changed', async () => {
    const token = await tokenOf(key)
    const [header, , signature] = token.split('.')
    const claims = { iss: issuer, aud: audience, sub: 'root', exp: now + 600 }
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url')
    expect((await tried(`${header}.${payload}.${signature}`)).identity).toBeUndefined()
    expect((await tried(token.slice(0, -3))).identity).toBeUndefined()
  })

  test('it is very long', async () => {
    const long = await tokenOf(key, { claims: { note: 'x'.repeat(8000) } })
    expect(await tried(long)).toEqual({ identity: undefined, received: [expect.stringMatching(/8192/)] })
    const fitting = await tokenOf(key, { claims: { note: 'x'.repeat(5000) } })
    expect((await tried(fitting)).identity).toBeDefined()
  })
})

test('what is no such token is left to others, without a word', async () => {
  const header = Buffer.from('{"alg":"ES256"').toString('base64url')
  const five = `${(await tokenOf(key)).replace(/\./g, '.a.')}`
  for (const token of ['', 'abc', 'a.b.c', 'a.b', `${header}.e30.AAAA`, five, 'ä.b.c', 'W10.e30.AAAA']) {
    expect([token, await tried(token)]).toEqual([token, { identity: undefined, received: [] }])
  }
})

test('the operator is told one reason once a minute', async () => {
  const [clock, warn] = [new FakeClock(Date.now()), vi.fn()]
  const logger = { info: vi.fn(), warn, error: vi.fn() }
  const authenticator = jwtAuthenticator(settings, { clock, logger })
  const [expired, foreign] = await Promise.all([
    tokenOf(key, { claims: { exp: now - 100 } }),
    tokenOf(key, { claims: { iss: 'https://other.example' } }),
  ])
  for (const token of [expired, expired, foreign, expired]) await authenticator.authenticate('demo', token)
  expect(warn).toHaveBeenCalledTimes(2)
  clock.advance(60_000)
  await authenticator.authenticate('demo', expired)
  expect(warn).toHaveBeenCalledTimes(3)
})

test('many at once are all answered', async () => {
  const authenticator = jwtAuthenticator(settings)
  const tokens = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      tokenOf(key, { claims: { sub: `dan${n}`, exp: now + (n % 2 ? 60 : -60) } }),
    ),
  )
  const answers = await Promise.all(tokens.map((token) => authenticator.authenticate('demo', token)))
  expect(answers.map((each) => each?.participant)).toEqual(
    tokens.map((_, n) => (n % 2 ? `dan${n}` : undefined)),
  )
})
