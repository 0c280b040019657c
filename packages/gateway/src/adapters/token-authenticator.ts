import { createHash } from 'node:crypto'
import type { Authenticator } from '../ports/authenticator.js'

const hash = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Tokens known beforehand: space → participant → token. Only their hashes are kept and compared. */
export function tokenAuthenticator(
  tokens: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Authenticator {
  const known = new Map<string, string>()
  for (const [space, participants] of Object.entries(tokens)) {
    for (const [participant, token] of Object.entries(participants))
      known.set(`${space} ${hash(token)}`, participant)
  }
  return {
    async authenticate(space, token) {
      const participant = known.get(`${space} ${hash(token)}`)
      return participant === undefined ? undefined : { participant }
    },
  }
}
