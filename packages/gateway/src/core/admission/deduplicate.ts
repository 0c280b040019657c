import { correlations, Kind } from '@meup/protocol'
import type { Admission, AdmissionContext, Outcome } from './context.js'
import { encode } from './encode.js'
import { chargeLookups } from './work.js'

/**
 * A known id from the same sender with the same content gets the original echoed; anything else is `duplicate_id`
 * [MEUP-1.10]. So is a start that would take over what others think in already [MEUP-2.12].
 */
export function deduplicate(admission: AdmissionContext, space: Admission): Outcome {
  admission.encoded = encode(admission.envelope, admission.payload)
  const { id, kind } = admission.envelope
  // A start looks up whether it names a context. What an envelope answers is looked up as well: by rights, and for who may read it.
  const lookups = kind === Kind.reasoningStart ? 2 : 1
  chargeLookups(admission.meter, lookups + correlations(admission.envelope).length)
  const known = space.ids.find(id, admission.sender.participant, admission.encoded.content, admission.meter)
  if (known === undefined) {
    if (kind !== Kind.reasoningStart || !isContext(id, space)) return undefined
    return { code: 'duplicate_id', path: '/id', message: `${id} is a context already; use a fresh id` }
  }
  if (known === 'other') {
    return { code: 'duplicate_id', path: '/id', message: `${id} stands for another envelope; use a fresh id` }
  }
  if (known.message !== undefined) admission.sender.echo(known.seq, known.message)
  return { answered: true, id, seq: known.seq }
}

/** A run whose start was pruned may still go on: the state knows it. */
const isContext = (root: string, { ids, state }: Admission): boolean =>
  state.contexts.get(root) !== undefined || ids.hasContext(root)
