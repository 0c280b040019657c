import { contextRoot, correlations, type Envelope, GATEWAY } from '@meup/protocol'
import type { Log } from '../log/log.js'

/** Steps from an envelope back to what began it. */
const maxSteps = 64

/**
 * Id of what an envelope goes back to: a question, or a run that nobody asked for. Where that is not loaded, the id that
 * leads there. `undefined`: it belongs to none, as who came and went.
 */
export function findOrigin(log: Pick<Log, 'get'>, envelope: Envelope): string | undefined {
  let at = envelope
  for (let step = 0; step < maxSteps; step++) {
    const id = at.context === undefined ? correlations(at)[0] : contextRoot(at.context)
    if (id === undefined) return at.from === GATEWAY ? undefined : at.id
    const next = log.get(id)
    if (next === undefined || next === at) return id
    at = next
  }
  return at.id
}
