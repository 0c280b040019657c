import { createHash } from 'node:crypto'
import type { Authenticator } from '../ports/authenticator.js'

/** space → participant → token */
export type Tokens = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TokenAuthenticator extends Authenticator {
  /** From now on these tokens are good, and no others; `Gateway.reconfigure` closes what the others have opened. */
  replace(tokens: Tokens): void
}

/** Tokens known beforehand. Only their hashes are kept and compared. */
export function tokenAuthenticator(tokens: Tokens): TokenAuthenticator {
  let known = index(tokens)
  return {
    async authenticate(space, token) {
      const key = keyOf(space, token)
      const participant = known.get(key)
      if (participant === undefined) return undefined
      return { participant, isCurrent: () => known.get(key) === participant }
    },
    replace(tokens) {
      known = index(tokens)
    },
  }
}

function index(tokens: Tokens): Map<string, string> {
  const owners = Object.entries(tokens).flatMap(([space, participants]) =>
    Object.entries(participants).map(([participant, token]) => [keyOf(space, token), participant] as const),
  )
  return new Map(owners)
}

const keyOf = (space: string, token: string): string =>
  `${space} ${createHash('sha256').update(token).digest('hex')}`
