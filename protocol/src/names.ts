/** The only version this package speaks [MEUP-1.5]. */
export const PROTOCOL = 'meup/v0.3'
/** WebSocket subprotocol of this version [MEUP-5.1]. */
export const SUBPROTOCOL = 'meup.v0.3'
/** `from` of what the gateway itself writes. No participant can have this id. */
export const GATEWAY = 'system:gateway'

/** The close reason of a client whose program ends with this connection [MEUP-2.14]. */
export const BYE = 'bye'

/** @internal */
export const envelopeId = /^[A-Za-z0-9_-]{1,64}$/

/** What somebody calls the id of an envelope may be anything. */
export const isEnvelopeId = (id: unknown): id is string => typeof id === 'string' && envelopeId.test(id)

/** How the names begin that the gateway gives its guests; nobody else has such a name [MEUP-3.24]. */
export const GUEST = 'guest-'

/** Those who read a name do not tell these apart: case, and the marks that a name may have. */
const readAs = (id: string): string => id.toLowerCase().replaceAll(/[._-]/g, '')

const ofGateway: ReadonlySet<string> = new Set(['system', 'gateway', readAs(GATEWAY.replace(':', ''))])
const likeGuest = /^guest[._-]/i

/** Whom a new participant of this name would be taken for: the gateway, guests, or one of these others [MEUP-3.24]. */
export function imitatedBy(id: string, others: Iterable<string>): string | undefined {
  const name = readAs(id)
  if (ofGateway.has(name)) return GATEWAY
  if (likeGuest.test(id)) return `${GUEST}…`
  for (const other of others) if (other !== id && readAs(other) === name) return other
  return undefined
}

/** Which of these names would be taken for the gateway, guests, or one before it. */
export function* imitationsIn(ids: Iterable<string>): Generator<readonly [id: string, imitated: string]> {
  const first = new Map<string, string>()
  for (const id of ids) {
    const other = first.get(readAs(id))
    const imitated = imitatedBy(id, other === undefined ? [] : [other])
    if (imitated !== undefined) yield [id, imitated]
    first.set(readAs(id), other ?? id)
  }
}
