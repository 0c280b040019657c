import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

export const [issuer, audience] = ['https://id.example', 'meup']

type SigningKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']

/** Makes a key of an issuer, with this id. */
export async function newKey(kid: string, alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export type Key = Awaited<ReturnType<typeof newKey>>

export interface Made {
  readonly claims?: JWTPayload
  readonly header?: Readonly<Record<string, unknown>>
  /** Time of issue, in seconds since the epoch; default: now. */
  readonly now?: number
  /** Key that signs instead of the issuer's key. */
  readonly with?: SigningKey | Uint8Array
}

/** Makes a token for `dan` that is valid for an hour, unless `claims` say otherwise. Omits claims that are `undefined`. */
export async function tokenOf(key: Key, { claims, header, now, with: signer }: Made = {}): Promise<string> {
  const at = now ?? Math.floor(Date.now() / 1000)
  const usual = { iss: issuer, aud: audience, sub: 'dan', iat: at, exp: at + 3600 }
  const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined)
  return new SignJWT(Object.fromEntries(all))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
    .sign(signer ?? key.privateKey, { crit: { x: true } })
}

export const keySetOf = (...keys: readonly Key[]): JSONWebKeySet => ({ keys: keys.map(({ jwk }) => jwk) })

/** Starts an endpoint with an issuer's keys. Its answer can be changed. */
export async function publish(first: unknown) {
  const state = { answer: first, status: 200, asked: 0, isStalled: false }
  const server = createServer((_, response) => {
    state.asked++
    if (state.isStalled) return
    response.writeHead(state.status, { 'content-type': 'application/json' })
    response.end(typeof state.answer === 'string' ? state.answer : JSON.stringify(state.answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(state, { url: `http://127.0.0.1:${port}/jwks.json` })
}
