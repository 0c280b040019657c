import type { Authenticator } from '../ports/authenticator.js'
import { hashOf } from '../space/trust/invitations.js'
import type { Room } from './room.js'

/** Tells whether a text opens anything in this gateway: it is a token of a space, or of an open invitation to one. */
export function tokenTester(
  authenticator: Authenticator,
  rooms: ReadonlyMap<string, Room>,
): (candidate: string) => boolean {
  return (candidate) => {
    if (authenticator.isToken?.(candidate)) return true
    const invitations = [...rooms.values()].flatMap(({ space }) => space.state.trust.invitations.list())
    if (invitations.length === 0) return false
    const sha256 = hashOf(candidate)
    return invitations.some(({ tokenSha256 }) => tokenSha256 === sha256)
  }
}
