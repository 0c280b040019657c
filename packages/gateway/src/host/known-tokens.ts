import { hashOf } from '../core/state/trust/invitations.js'
import type { Authenticator } from '../ports/authenticator.js'
import type { SpaceHost } from './space-host.js'

/** Tells whether a text opens anything in this gateway: it is a token of a space, or of an open invitation to one. */
export function tokenTester(
  authenticator: Authenticator,
  hosts: ReadonlyMap<string, SpaceHost>,
): (candidate: string) => boolean {
  return (candidate) => {
    if (authenticator.isToken?.(candidate)) return true
    let sha256: string | undefined
    for (const { space } of hosts.values()) {
      const { invitations } = space.state.trust
      if (invitations.size === 0) continue
      sha256 ??= hashOf(candidate)
      if (invitations.knows(sha256)) return true
    }
    return false
  }
}
