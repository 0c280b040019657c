/** The only supported version [MEUP-1.5]. */
export const PROTOCOL = 'meup/v0.3'
/** WebSocket subprotocol of this version [MEUP-5.1]. */
export const SUBPROTOCOL = 'meup.v0.3'
/** `from` of the gateway's own envelopes. Participants cannot have this id. */
export const GATEWAY = 'system:gateway'

/** The close reason of a client whose program ends [MEUP-2.14]. */
export const BYE = 'bye'

/** @internal */
export const envelopeId = /^[A-Za-z0-9_-]{1,64}$/

/** Whether an untyped value is a valid envelope id. */
export const isEnvelopeId = (id: unknown): id is string => typeof id === 'string' && envelopeId.test(id)

/** Prefix of guest names, reserved for the gateway [MEUP-3.24]. */
export const GUEST = 'guest-'

/** Normalizes a name for comparison by people, who overlook case and separators. */
const readAs = (id: string): string => id.toLowerCase().replaceAll(/[._-]/g, '')

const ofGateway: ReadonlySet<string> = new Set(['system', 'gateway', readAs(GATEWAY.replace(':', ''))])
const likeGuest = /^guest[._-]/i

/** The name that a new participant of this name would be mistaken for: the gateway, guests, or one of the others [MEUP-3.24]. */
export function imitatedBy(id: string, others: Iterable<string>): string | undefined {
  const name = readAs(id)
  if (ofGateway.has(name)) return GATEWAY
  if (likeGuest.test(id)) return `${GUEST}…`
  for (const other of others) if (other !== id && readAs(other) === name) return other
  return undefined
}

/** The names that would be mistaken for the gateway, guests, or an earlier one. */
export function* imitationsIn(ids: Iterable<string>): Generator<readonly [id: string, imitated: string]> {
  const first = new Map<string, string>()
  for (const id of ids) {
    const other = first.get(readAs(id))
    const imitated = imitatedBy(id, other === undefined ? [] : [other])
    if (imitated !== undefined) yield [id, imitated]
    first.set(readAs(id), other ?? id)
  }
}
