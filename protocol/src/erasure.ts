import type { Envelope } from './envelope.js'
import { Kind } from './kinds.js'
import type { DecisionPayload } from './payloads.js'

/** An erasure with its author and reason: the payload of `system.space` `erased` [MEUP-10.10]. */
export interface Erasure {
  readonly seq: number
  readonly id: string
  readonly by: string
  readonly reason: string
  /** The gateway's decision, if the erased envelope is a `system.decision`. */
  readonly decided?: Pick<DecisionPayload, 'decision' | 'reasonCode'>
}

/** Maximum characters of the reason of an erasure. */
export const maxErasureReason = 512

/** The JSON-RPC `method` that an erased MCP request has instead of its original one. */
export const erasedMethod = 'erased'

/** Returns the erasure that an envelope records; `undefined` if it records none. */
export function getErasure({ kind, payload }: Pick<Envelope, 'kind' | 'payload'>): Erasure | undefined {
  if (kind !== Kind.systemSpace || payload.event !== 'erased') return undefined
  const { seq, id, by, reason, decided } = payload as Readonly<Record<string, unknown>>
  const said = { seq: Number(seq), id: String(id), by: String(by), reason: String(reason) }
  return decided === undefined ? said : { ...said, decided: decided as NonNullable<Erasure['decided']> }
}

const isSpaceEvent = `"kind":"${Kind.systemSpace}"`

/** Like `getErasure`, for the JSON of an envelope in a log or an export. */
export function findErasure(body: string): Erasure | undefined {
  if (!body.includes(isSpaceEvent)) return undefined
  try {
    return getErasure(JSON.parse(body) as Envelope)
  } catch {
    return undefined // Exports are untrusted.
  }
}
