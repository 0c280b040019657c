import type { Envelope } from './envelope.js'
import type { Payloads } from './kind-rules.js'
import type { Kind } from './kinds.js'

/** An envelope of one kind, with the payload of that kind. */
export type EnvelopeOf<K extends Kind> = Omit<Envelope, 'kind' | 'payload'> & {
  kind: K
  payload: Payloads[K]
}

/** A kind outside this specification. No literal equals this type, so that comparing `kind` narrows the others. */
type OtherKind = `${string}\0${string}`

/** Any envelope: `if (envelope.kind === 'chat') envelope.payload.message`. */
export type AnyEnvelope =
  | { [K in Kind]: EnvelopeOf<K> }[Kind]
  | (Omit<Envelope, 'kind' | 'payload'> & { kind: OtherKind; payload: Record<string, unknown> })

/** Tests for a kind that this specification does not know, where comparing with `===` cannot. */
export const isKind = (envelope: { readonly kind: string }, kind: string): boolean => envelope.kind === kind
