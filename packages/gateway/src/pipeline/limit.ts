import type { RateClass } from '@meup/protocol'
import { rateClassOf } from '../space/rates.js'
import { type Admission, isRefusal, type Passage, type Refusal, type Step } from './passage.js'
import { kickedOut, paused } from './stopped.js'

/** Charges the class, and stops who is kicked or paused: `rate_limited`, `forbidden`, `participant_paused` [MEUP-7.1]. */
export const limit: Step = (passage, space) =>
  overClassRate(passage, space) ?? kickedOut(passage, space) ?? paused(passage, space)

/** A step before `limit` whose refusals cost their class too. What it answers, a retry, costs none [MEUP-7.3]. */
export const limiting =
  (step: Step): Step =>
  (passage, space) => {
    const outcome = step(passage, space)
    return outcome && isRefusal(outcome) ? (overClassRate(passage, space) ?? outcome) : outcome
  }

const overClassRate = (passage: Passage, space: Admission): Refusal | undefined =>
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
