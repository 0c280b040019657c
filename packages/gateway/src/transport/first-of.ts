import type { Authenticator } from '../ports/authenticator.js'

/** Asks one after the other; the first that knows a token says who it stands for. */
export const firstOf = (authenticators: readonly Authenticator[]): Authenticator => ({
  async authenticate(space, token) {
    for (const each of authenticators) {
      const identity = await each.authenticate(space, token)
      if (identity !== undefined) return identity
    }
    return undefined
  },
  isToken: (candidate) => authenticators.some((each) => each.isToken?.(candidate) ?? false),
})
