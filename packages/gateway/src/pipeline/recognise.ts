import { correlations, Kind } from '@meup/protocol'
import { encode } from './encode.js'
import type { Admission, Outcome, Passage } from './passage.js'
import { chargeLookups } from './work.js'

/**
 * A known id from the same sender with the same content gets the original echoed; anything else is `duplicate_id`
 * [MEUP-1.10]. So is a start that would take over what others think in already [MEUP-2.12].
 */
export function recognise(passage: Passage, space: Admission): Outcome {
  passage.encoded = encode(passage.envelope, passage.payload)
  const { id, kind } = passage.envelope
  // A start looks up whether it names a context. What an envelope answers is looked up as well: by rights, and for who may read it.
  const lookups = kind === Kind.reasoningStart ? 2 : 1
  chargeLookups(passage.meter, lookups + correlations(passage.envelope).length)
  const known = space.ids.find(id, passage.sender.participant, passage.encoded.content, passage.meter)
  if (known === undefined) {
    if (kind !== Kind.reasoningStart || !isContext(id, space)) return undefined
    return { code: 'duplicate_id', path: '/id', message: `${id} is a context already; use a fresh id` }
  }
  if (known === 'other') {
    return { code: 'duplicate_id', path: '/id', message: `${id} stands for another envelope; use a fresh id` }
  }
  if (known.message !== undefined) passage.sender.echo(known.seq, known.message)
  return { answered: true, id, seq: known.seq }
}

/** A run whose start was pruned may still go on: the state knows it. */
const isContext = (root: string, { ids, state }: Admission): boolean =>
  state.contexts.get(root) !== undefined || ids.hasContext(root)
