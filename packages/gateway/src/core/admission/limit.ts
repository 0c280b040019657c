import type { RateClass } from '@meup/protocol'
import { rateClassOf } from '../rates.js'
import { type Admission, type AdmissionContext, isRefusal, type Refusal, type Step } from './context.js'
import { kickedOut, paused } from './stopped.js'

/** Charges the class, and stops who is kicked or paused: `rate_limited`, `forbidden`, `participant_paused` [MEUP-7.1]. */
export const limit: Step = (admission, space) =>
  overClassRate(admission, space) ?? kickedOut(admission, space) ?? paused(admission, space)

/** A step before `limit` whose refusals cost their class too. What it answers, a retry, costs none [MEUP-7.3]. */
export const limiting =
  (step: Step): Step =>
  (admission, space) => {
    const outcome = step(admission, space)
    return outcome && isRefusal(outcome) ? (overClassRate(admission, space) ?? outcome) : outcome
  }

const overClassRate = (admission: AdmissionContext, space: Admission): Refusal | undefined =>
  overRate(admission, space, rateClassOf(admission.envelope.kind), 1)

/** Charges the sender; the refusal says when to try again. */
export function overRate(
  { sender, now }: AdmissionContext,
  space: Admission,
  rateClass: RateClass,
  cost: number,
): Refusal | undefined {
  const retryAfterMs = space.rates.take(sender.rateLimitKey, rateClass, cost, now)
  if (retryAfterMs === 0) return undefined
  return {
    code: 'rate_limited',
    message: `over the rate for ${rateClass}; send again in ${retryAfterMs} ms`,
    retryAfterMs,
    details: { class: rateClass },
  }
}
