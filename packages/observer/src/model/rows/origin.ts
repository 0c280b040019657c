import { contextRoot, correlations, type Envelope, GATEWAY } from '@meup/protocol'
import type { Log } from '../log/log.js'

/** Maximum number of references followed from an envelope to its origin. */
const maxSteps = 64

/**
 * Id of the envelope that ultimately caused this one: a question, or a run without trigger. If that is not loaded, the last
 * known id on the way. `undefined` for envelopes without a cause, such as joins and leaves.
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
