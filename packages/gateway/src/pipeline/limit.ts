import type { RateClass } from '@meup/protocol'
import { rateClassOf } from '../space/rates.js'
import type { Admission, Outcome, Passage, Refusal } from './passage.js'
import { paused } from './paused.js'

/** Token buckets per participant and class, and who is stopped: `rate_limited`, `participant_paused` [MEUP-7.1, 3.13]. */
export const limit = (passage: Passage, space: Admission): Outcome =>
  overClassRate(passage, space) ?? paused(passage, space)

export const overClassRate = (passage: Passage, space: Admission): Refusal | undefined =>
  overRate(passage, space, rateClassOf(passage.envelope.kind), 1)

/** Charges the sender; the refusal says when to try again. */
export function overRate(
  { sender, now }: Passage,
  space: Admission,
  rateClass: RateClass,
  cost: number,
): Refusal | undefined {
  const retryAfterMs = space.rates.take(sender.payer, rateClass, cost, now)
  if (retryAfterMs === 0) return undefined
  return {
    code: 'rate_limited',
    message: `over the rate for ${rateClass}; send again in ${retryAfterMs} ms`,
    retryAfterMs,
    details: { class: rateClass },
  }
}
