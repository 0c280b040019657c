import { readProblem } from './http.js'
import type { Place } from './storage.js'

const pattern = /^#\/open\/([\w-]{1,128})$/

/** The code that the address holds, and no longer does afterwards: neither the history of the browser nor anybody who looks on. */
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

/** What a code stands for. It is good once [MEUP-11.13]. Rejects with `ProtocolError`, or `TypeError` without a gateway. */
export async function exchange(url: string, code: string): Promise<Invitation> {
  const headers = { authorization: `Bearer ${code}` }
  const response = await fetch(new URL('links/exchange', `${url}/`), { method: 'POST', headers })
  if (!response.ok) throw await readProblem(response)
  const { space, participant, token } = (await response.json()) as Record<
    'space' | 'participant' | 'token',
    string
  >
  return { place: { url, space, token }, participant }
}
