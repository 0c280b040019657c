import { jwtAuthenticator } from '@meup/gateway/jwt'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  audience,
  issuer,
  type Key,
  keySetOf,
  newKey,
  publish,
  tokenOf,
} from '../../../test/support/issuer.js'

function started(jwks: string) {
  const warn = vi.fn()
  const logger = { info: vi.fn(), warn, error: vi.fn() }
  const authenticator = jwtAuthenticator({ issuer, audience, jwks }, { logger })
  return {
    authenticator,
    /** The participant that a new token of this key authenticates. */
    who: async (key: Key) => (await authenticator.authenticate('demo', await tokenOf(key)))?.participant,
    received: () => warn.mock.calls.map(([{ reason }]) => reason as string),
  }
}

/** Advances `Date`, by which the key cache measures time. */
function passes(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  onTestFinished(() => void vi.useRealTimers())
}

describe('the keys of an issuer', () => {
  test('are fetched when the first token comes, and once', async () => {
    const key = await newKey('a')
    const place = await publish(keySetOf(key))
    const { who } = started(place.url)
    expect(place.asked).toBe(0)
    expect(await Promise.all([who(key), who(key), who(key)])).toEqual(['dan', 'dan', 'dan'])
    expect(await who(key)).toBe('dan')
    expect(place.asked).toBe(1)
  })

  test('may be replaced: a new key is fetched when it is used, an old one is good no more', async () => {
    const [old, fresh] = [await newKey('old'), await newKey('fresh')]
    const place = await publish(keySetOf(old))
    const { who } = started(place.url)
    expect(await who(old)).toBe('dan')
    place.answer = keySetOf(fresh)
    passes(31_000)
    expect(await who(fresh)).toBe('dan')
    expect(await who(old)).toBeUndefined()
    expect(place.asked).toBe(2)
  })

  test('are not asked for again and again by whoever makes up the name of one', async () => {
    const [key, foreign] = [await newKey('a'), await newKey('b')]
    const place = await publish(keySetOf(key))
    const { who, received } = started(place.url)
    await who(key)
    for (let n = 0; n < 20; n++) expect(await who(foreign)).toBeUndefined()
    expect(place.asked).toBe(1)
    passes(31_000)
    for (let n = 0; n < 20; n++) expect(await who(foreign)).toBeUndefined()
    expect(place.asked).toBe(2)
    expect(received()).toEqual([expect.stringMatching(/no applicable key/)])
  })
})

describe('an issuer that does not give its keys', () => {
  test.for([
    ['refuses', { status: 500 }, /answered 500/],
    ['sends elsewhere', { status: 302 }, /answered 302/],
    ['answers what is no JSON', { answer: '<html>' }, /JSON/],
    ['answers what are no keys', { answer: { keys: 'none' } }, /malformed/],
    ['answers never', { isStalled: true }, /timed out|timeout/i],
  ] as const)('%s: tokens are refused, it is left alone for a while, and then asked again', async (row) => {
    const [, problem, reason] = row
    const key = await newKey('a')
    const place = await publish(keySetOf(key))
    const { who, received } = started(place.url)
    const good = { answer: place.answer, status: 200, isStalled: false }
    Object.assign(place, problem)
    expect(await who(key)).toBeUndefined()
    Object.assign(place, good)
    expect(await who(key)).toBeUndefined()
    expect(place.asked).toBe(1)
    expect(received()).toEqual([expect.stringMatching(reason)])
    passes(11_000)
    expect(await who(key)).toBe('dan')
    expect(place.asked).toBe(2)
  })

  test('is not there', async () => {
    const { who, received } = started('http://127.0.0.1:9/jwks.json')
    expect(await who(await newKey('a'))).toBeUndefined()
    expect(received()).toEqual([expect.stringMatching(/fetch failed|ECONNREFUSED|bad port/)])
  })
})

describe('settings that change', () => {
  test('put an end to what others have let in; the same ones do not', async () => {
    const key = await newKey('a')
    const settings = { issuer, audience, jwks: keySetOf(key) }
    const authenticator = jwtAuthenticator(settings)
    const identity = await authenticator.authenticate('demo', await tokenOf(key))
    authenticator.replace(structuredClone(settings))
    expect(identity?.isCurrent?.()).toBe(true)
    authenticator.replace({ ...settings, audience: 'others' })
    expect(identity?.isCurrent?.()).toBe(false)
    expect(await authenticator.authenticate('demo', await tokenOf(key))).toBeUndefined()
    authenticator.replace(undefined)
    expect(authenticator.settings).toBeUndefined()
    expect(await authenticator.authenticate('demo', await tokenOf(key))).toBeUndefined()
  })

  test('are refused where they are no keys, and the old ones stay', async () => {
    const key = await newKey('a')
    const authenticator = jwtAuthenticator({ issuer, audience, jwks: keySetOf(key) })
    const wrong = { issuer, audience, jwks: { keys: 'none' } as never }
    expect(() => authenticator.replace(wrong)).toThrow(/malformed/)
    expect((await authenticator.authenticate('demo', await tokenOf(key)))?.participant).toBe('dan')
  })
})
