/** The protocol version, in every envelope; no other version is supported [MEUP-1.5]. */
export const PROTOCOL = 'meup/v0.3'
/** WebSocket subprotocol of this version [MEUP-5.1]. */
export const SUBPROTOCOL = 'meup.v0.3'
/** Sender (`from`) of the gateway's own envelopes. Participants cannot have this id. */
export const GATEWAY = 'system:gateway'

/** The reason with which a client closes its connection if its program ends [MEUP-2.14]. */
export const BYE = 'bye'

/** @internal */
export const envelopeId = /^[A-Za-z0-9_-]{1,64}$/

/** Whether an untyped value is a valid envelope id. */
export const isEnvelopeId = (id: unknown): id is string => typeof id === 'string' && envelopeId.test(id)

/** Prefix of the ids of guests, reserved for the gateway [MEUP-3.24]. */
export const GUEST = 'guest-'

/** Normalizes a name for comparison, because people overlook differences in case and separators. */
const readAs = (id: string): string => id.toLowerCase().replaceAll(/[._-]/g, '')

const ofGateway: ReadonlySet<string> = new Set(['system', 'gateway', 'systemgateway'])
const likeGuest = /^guest[._-]/i

/**
 * Returns the name that people would mistake a new participant of this name for: the gateway, guests, or one of `others`
 * [MEUP-3.24].
 */
export function imitatedBy(id: string, others: Iterable<string>): string | undefined {
  const name = readAs(id)
  if (ofGateway.has(name)) return GATEWAY
  if (likeGuest.test(id)) return `${GUEST}…`
  for (const other of others) if (other !== id && readAs(other) === name) return other
  return undefined
}

/** Lists the names that people would mistake for the gateway, guests, or an earlier name in the list. */
export function* imitationsIn(ids: Iterable<string>): Generator<readonly [id: string, imitated: string]> {
  const first = new Map<string, string>()
  for (const id of ids) {
    const other = first.get(readAs(id))
    const imitated = imitatedBy(id, other === undefined ? [] : [other])
    if (imitated !== undefined) yield [id, imitated]
    first.set(readAs(id), other ?? id)
  }
}
