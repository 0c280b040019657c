import { type EnvelopeOf, getMember, type Kind } from '@meup/protocol'

/** A proposal that waits for somebody who may do it. */
export interface OpenProposal {
  readonly id: string
  readonly from: string
  /** When it was made, RFC 3339. */
  readonly ts: string
  /** Whom the request would be for; absent = everyone. */
  readonly to?: readonly string[]
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  /** The same as it was sent, JSON: parsed, a large number is another one, and it is this that is approved. */
  readonly paramsJson?: string
  /** Why its proposer wants it. */
  readonly rationale?: string
  readonly context?: string
  readonly correlationId?: string | readonly string[]
  readonly parallelGroup?: number
  readonly expiresAt?: string
  /** How often it can still be carried out. */
  readonly usesLeft: number
  /** Who does not want it; others may approve it all the same. */
  readonly rejectedBy: readonly string[]
}

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/** A proposal as somebody else may see it. `frame` = the envelope as it was received. */
export function see(envelope: EnvelopeOf<typeof Kind.mcpProposal>, frame: string): OpenProposal {
  const { id, from, ts, to, rationale, context, correlationId, parallelGroup, payload } = envelope
  const { method, params, expiresAt, uses = 1 } = payload
  const sent = getMember(encoder.encode(frame), 'payload')
  const text = sent && getMember(sent, 'params')
  return {
    ...{ id, from, ts, method, usesLeft: uses, rejectedBy: [] },
    ...(to && { to }),
    ...(params && { params }),
    ...(text && { paramsJson: decoder.decode(text) }),
    ...(rationale !== undefined && { rationale }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
    ...(parallelGroup !== undefined && { parallelGroup }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}
