import { Kind } from '@meup/protocol'
import type { Space } from '../core/space.js'
import type { Identity } from '../ports/authenticator.js'

/**
 * Makes known whom the token of an issuer has made a participant, and what a newer token gives it [MEUP-5.15]. Of
 * whom the operator has configured, or somebody has kicked, nothing is said. Rejects where the log takes nothing.
 */
export async function recordMembership(
  { participant: id, membership }: Identity,
  space: Space,
): Promise<void> {
  const { participants, trust } = space.state
  const isConfigured = participants.isNamed(id) && !trust.members.has(id)
  if (membership === undefined || isConfigured || trust.kicks.get(id) !== undefined) return
  const { issuedAt, capabilities = space.config.defaults.capabilities } = membership
  const known = trust.members.issuedAt(id)
  const isNewer =
    known !== undefined && issuedAt > known && !isSame(capabilities, participants.configured(id))
  if (known !== undefined && !isNewer) return
  const participant = { id, capabilities: [...capabilities, ...participants.granted(id)] }
  const payload = { event: 'update', participant, vouched: { issuedAt, capabilities } }
  const said = { kind: Kind.systemPresence, payload }
  if (space.follows && space.elsewhere) await space.committed(await space.elsewhere.emit(said))
  else space.emit(said)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
