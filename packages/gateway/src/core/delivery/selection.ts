import { type Detail, isShown } from '@meup/protocol'
import { matches } from '../../log/filter.js'
import type { Entry, Filter } from '../../ports/envelope-log.js'
import type { Addressed } from './may-read.js'

/**
 * What a request over HTTP asks for out of what its sender may read [MEUP-11.3, 11.4]. Unlike a subscription it cuts
 * whatever does not fit, one's own envelopes too. Selections with the same `key` select the same.
 */
export interface Selection {
  readonly key: string
  includes(entry: Entry): boolean
  /** Whether it includes events that tell why this call was made; they are reasoning. */
  includesCall(call: Addressed): boolean
}

export const everything: Selection = { key: '', includes: () => true, includesCall: () => true }

export function select(filter: Filter, reasoning: Detail): Selection {
  const { kinds, from, context, correlationId } = filter
  return {
    key: JSON.stringify([kinds, from, context, correlationId, reasoning]),
    includes: (entry) => matches(filter, entry) && isShown(reasoning, entry),
    includesCall: (call) => reasoning === 'full' && matches(filter, call),
  }
}
