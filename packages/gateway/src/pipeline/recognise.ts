import { encode } from './encode.js'
import { overClassRate } from './limit.js'
import type { Admission, Outcome, Passage } from './passage.js'

/**
 * A known id from the same sender with the same content gets the original echoed; anything else is `duplicate_id`
 * [MEUP-1.10, 7.3]. The class is charged only for those that are not recognised.
 */
export function recognise(passage: Passage, space: Admission): Outcome {
  passage.encoded = encode(passage.envelope, passage.payload)
  const { id } = passage.envelope
  const known = space.ids.find(id, passage.sender.participant, passage.encoded.content)
  if (known === undefined) return undefined
  if (known === 'other') {
    const refused = overClassRate(passage, space)
    return (
      refused ?? {
        code: 'duplicate_id',
        path: '/id',
        message: `${id} stands for another envelope; use a fresh id`,
      }
    )
  }
  if (known.message !== undefined) passage.sender.echo(known.seq, known.message)
  return { answered: true, id, seq: known.seq }
}
