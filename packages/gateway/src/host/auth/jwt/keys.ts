import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose'

/** Milliseconds that the issuer may take to give its keys, and for which it is left alone after it could not. */
const [timeoutDuration, pauseMs] = [3000, 10_000]
/** Keys that are unknown are asked for, but not more often than this (ms): anybody can make one up. */
const cooldownDuration = 30_000

/** Finds the key that a token was signed with. Rejects where there is none, or where the issuer cannot be asked. */
export type Keys = (header: JWSHeaderParameters) => Promise<CryptoKey>

/** Keys at an address, fetched when they are needed, or given. Throws where given ones are none. */
export function keysOf(jwks: string | JSONWebKeySet): Keys {
  if (typeof jwks !== 'string') return createLocalJWKSet(jwks)
  const options = { timeoutDuration, cooldownDuration, [customFetch]: considerateFetch() }
  return createRemoteJWKSet(new URL(jwks), options)
}

/** Fetches a set of keys; where that fails it fails for a while without another try. */
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
  createLocalJWKSet(keys) // Throws where they are none.
  return keys
}
