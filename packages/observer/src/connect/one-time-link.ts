import { request } from './http.js'
import type { Place } from './storage.js'

const pattern = /^#\/open\/([\w-]{1,128})$/

/** Removes the code from the address and the browser history, and returns it. */
export function consumeCode(): string | undefined {
  if (!location.hash.startsWith('#/open/')) return undefined
  const [, code] = pattern.exec(location.hash) ?? []
  history.replaceState(null, '', location.pathname)
  return code
}

/** Before anything else of the page runs. */
export const firstCode = consumeCode()

/** Where a link leads, and as whom. */
export interface Invitation {
  readonly place: Place
  readonly participant: string
}

/** Exchanges a one-time code for its token [MEUP-11.13]. Rejects as `request` does. */
export async function exchange(url: string, code: string): Promise<Invitation> {
  const response = await request(url, 'links/exchange', code, { method: 'POST' })
  const answer = (await response.json()) as { space: string; participant: string; token: string }
  const { space, participant, token } = answer
  return { place: { url, space, token }, participant }
}
