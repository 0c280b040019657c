import { type Capability, Kind, type PayloadPattern } from '@meup/protocol'
import type { OpenProposal } from './open-proposal.js'

/** The members of MCP params that say what is used: a tool or prompt by name, a resource by address. */
const names = ['name', 'uri'] as const

/**
 * The capability for exactly the kind of request that was proposed: this method, tool and target, with whatever
 * arguments. Throws `TypeError` where the proposal names no target: a capability without one would be for all.
 */
export function narrowCapability({ id, to, method, params }: OpenProposal): Capability {
  if (to === undefined) {
    throw new TypeError(`${id} is addressed to nobody: approve it alone, or grant what you mean with grant()`)
  }
  const used = names.flatMap((name): [string, PayloadPattern][] => {
    const value = params?.[name]
    return typeof value === 'string' ? [[name, literal(value)]] : []
  })
  const wanted = used.length > 0 ? { params: Object.fromEntries(used) } : {}
  return {
    kind: Kind.mcpRequest,
    to: to.length === 1 && to[0] !== undefined ? to[0] : [...to],
    payload: { method: literal(method), ...wanted },
  }
}

/** The pattern that matches this text alone [MEUP-4.3]. */
function literal(text: string): string {
  const plain = text.replace(/[*?\\]/g, '\\$&')
  return /^(!|re:|\/.*\/$)/s.test(plain) ? `\\${plain}` : plain
}
