import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Authenticator } from '../../ports/authenticator.js'

/** space → participant → token */
type Tokens = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface TokenAuthenticator extends Authenticator {
  /** Accepts only these tokens from now on; `Gateway.reconfigure` closes the connections of others. */
  replace(tokens: Tokens): void
}

interface Owner {
  readonly participant: string
  readonly digest: string
}

// Tokens are looked up by an HMAC with a key of this process, so that no one can choose tokens with similar digests, and lookup
// time reveals nothing about a token. Matches are compared in constant time.
const key = randomBytes(32).toString('hex')
const hashToken = (space: string, token: string): string => hash('sha256', `${key} ${space} ${token}`, 'hex')
const areSame = (one: string, other: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(other))

/** Accepts preconfigured tokens. Keeps and compares their digests only. */
export function tokenAuthenticator(tokens: Tokens): TokenAuthenticator {
  let known = index(tokens)
  let secrets = listSecrets(tokens)
  const findOwner = (digest: string): string | undefined => {
    const owner = known.get(digest)
    return owner && areSame(owner.digest, digest) ? owner.participant : undefined
  }
  return {
    async authenticate(space, token) {
      const digest = hashToken(space, token)
      const participant = findOwner(digest)
      if (participant === undefined) return undefined
      return { participant, isCurrent: () => findOwner(digest) === participant }
    },
    isToken: (candidate) => secrets.has(hashToken('', candidate)),
    replace(tokens) {
      known = index(tokens)
      secrets = listSecrets(tokens)
    },
  }
}

function index(tokens: Tokens): Map<string, Owner> {
  const owners = Object.entries(tokens).flatMap(([space, participants]) =>
    Object.entries(participants).map(([participant, token]) => {
      const digest = hashToken(space, token)
      return [digest, { participant, digest }] as const
    }),
  )
  return new Map(owners)
}

/** The digests of all tokens in all spaces. */
function listSecrets(tokens: Tokens): ReadonlySet<string> {
  const all = Object.values(tokens).flatMap((participants) => Object.values(participants))
  return new Set(all.map((token) => hashToken('', token)))
}

/** Asks one authenticator after another; the first that knows the token decides its identity. */
export const combineAuthenticators = (authenticators: readonly Authenticator[]): Authenticator => ({
  async authenticate(space, token) {
    for (const each of authenticators) {
      const identity = await each.authenticate(space, token)
      if (identity !== undefined) return identity
    }
    return undefined
  },
  isToken: (candidate) => authenticators.some((each) => each.isToken?.(candidate) ?? false),
})
