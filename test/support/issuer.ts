import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

export const [issuer, audience] = ['https://id.example', 'meup']

type SigningKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']

/** A key of an issuer, with a name of its own. */
export async function newKey(kid: string, alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

export type Key = Awaited<ReturnType<typeof newKey>>

export interface Made {
  readonly claims?: JWTPayload
  readonly header?: Readonly<Record<string, unknown>>
  /** Seconds since the epoch; default now. */
  readonly now?: number
  /** Signs instead of the key. */
  readonly with?: SigningKey | Uint8Array
}

/** A token for `dan`, good for an hour, unless something else is said. A claim that is `undefined` is left out. */
export async function tokenOf(key: Key, { claims, header, now, with: signer }: Made = {}): Promise<string> {
  const at = now ?? Math.floor(Date.now() / 1000)
  const usual = { iss: issuer, aud: audience, sub: 'dan', iat: at, exp: at + 3600 }
  const all = Object.entries({ ...usual, ...claims }).filter(([, value]) => value !== undefined)
  return new SignJWT(Object.fromEntries(all))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
    .sign(signer ?? key.privateKey, { crit: { x: true } })
}

export const keySetOf = (...keys: readonly Key[]): JSONWebKeySet => ({ keys: keys.map(({ jwk }) => jwk) })

/** The endpoint with an issuer's keys; its answer may change. */
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
