// Checks that decide whether the sender may send now: a stopped space, rates, log bytes, kicks, pauses, agents' hops.

import { type Envelope, Kind, type RateClass } from '@meup/protocol'
import { getRateClass } from '../metering.js'
import { isRefusal, type Refusal, refuse } from '../refusal.js'
import { texts } from '../refusal-texts.js'
import { explainKick } from '../state/trust/trust.js'
import type { Admission, AdmissionContext, Right, Step, StepOutcome } from './admission-context.js'

/**
 * Charges the envelope to the rate class of its kind, and refuses kicked and paused senders: `rate_limited`, `forbidden`,
 * `participant_paused` [MEUP-7.1].
 */
export const limit: Step = (admission, space) =>
  checkClassRate(admission, space) ?? checkKick(admission, space) ?? paused(admission, space)

/** Wraps a step before `limit`, so that its refusals are charged to the class as well. Answered retries are free [MEUP-7.3]. */
export const withRateLimit =
  (step: Step): Step =>
  (admission, space) => {
    const outcome = step(admission, space)
    return outcome && isRefusal(outcome) ? (checkClassRate(admission, space) ?? outcome) : outcome
  }

const checkClassRate = (admission: AdmissionContext, space: Admission): StepOutcome =>
  chargeEnvelope(admission, space, getRateClass(admission.envelope.kind))

/**
 * Charges one envelope to a rate class. An envelope that may wait is charged at once, so that waiting envelopes keep their
 * order [MEUP-7.9].
 */
export function chargeEnvelope(
  admission: AdmissionContext,
  space: Admission,
  rateClass: RateClass,
): StepOutcome {
  const { sender, overRate, envelope, now } = admission
  if (overRate === 'paid') return undefined
  if (overRate === 'refuse') return checkRate(admission, space, rateClass, 1)
  space.rates.charge(sender.rateLimitKey, rateClass, 1, now)
  const dueInMs = space.rates.wait(sender.rateLimitKey, rateClass, now)
  return dueInMs === 0 ? undefined : { id: envelope.id, seq: 0, dueInMs }
}

/** Charges the sender; a refusal says when to retry. */
function checkRate(
  { sender, now }: AdmissionContext,
  space: Admission,
  rateClass: RateClass,
  cost: number,
): Refusal | undefined {
  const retryAfterMs = space.rates.take(sender.rateLimitKey, rateClass, cost, now)
  if (retryAfterMs === 0) return undefined
  const extras = { retryAfterMs, details: { class: rateClass } }
  return refuse('rate_limited', texts.overRate, { rateClass, ms: retryAfterMs }, extras)
}

/**
 * Charges the bytes that an envelope adds to the log, so that no sender can fill the disk whatever its other rates allow
 * [MEUP-7.2].
 */
export function limitLog(admission: AdmissionContext, space: Admission): StepOutcome {
  const { sender, encoded, envelope, now } = admission
  const length = encoded.body.length + measureEnd(envelope)
  let refusal = checkRate(admission, space, 'log', length)
  if (refusal !== undefined) {
    const { burst } = space.rates.getRate(sender.rateLimitKey, 'log')
    // The sender could never pay for an envelope larger than the burst: it is accepted when the whole burst is available.
    if (length > burst) refusal = checkRate(admission, space, 'log', burst)
  }
  space.logUse.note(sender.rateLimitKey, now, refusal !== undefined)
  return refusal
}

const ending: ReadonlySet<string> = new Set([
  Kind.participantPause,
  Kind.capabilityGrant,
  Kind.spaceInvite,
  Kind.mcpProposal,
])
/** Approximate bytes of an envelope that announces an expiry. */
const endBytes = 256

/** Bytes of the envelopes that announce the expiry of this envelope; a pause has one per paused participant [MEUP-3.28]. */
function measureEnd({ kind, to, payload }: Envelope): number {
  if (!ending.has(kind) || (payload.expiresAt ?? payload.timeoutSeconds) === undefined) return 0
  return endBytes * (kind === Kind.participantPause ? (to?.length ?? 0) : 1)
}

/** A kicked participant is refused on every connection, even before they are closed [MEUP-3.14]. */
function checkKick({ sender }: AdmissionContext, { state }: Admission): Refusal | undefined {
  const kick = state.trust.kicks.get(sender.participant)
  return kick && refuse('forbidden', explainKick(kick))
}

/**
 * Kinds that a paused participant may still send: they end work on which others may wait, report its status, or change its own
 * subscription [MEUP-3.13].
 */
const allowed: ReadonlySet<string> = new Set([
  Kind.chatAcknowledge,
  Kind.chatCancel,
  Kind.mcpResponse,
  Kind.mcpWithdraw,
  Kind.reasoningCancel,
  Kind.reasoningConclusion,
  Kind.participantStatus,
  Kind.observeSubscribe,
])

/** Refuses a paused sender as `participant_paused`, on all its connections and over HTTP. */
function paused({ envelope, sender, now }: AdmissionContext, { state }: Admission): Refusal | undefined {
  const pause = state.pauses.get(sender.participant, now)
  if (pause === undefined || allowed.has(envelope.kind)) return undefined
  const { by, until } = pause
  const reason = pause.reason ? ` (${pause.reason})` : ''
  const end = until === undefined ? `${by} or another resumes it` : new Date(until).toISOString()
  const values = { by, participant: sender.participant, reason, end }
  const extras = until === undefined ? {} : { retryAfterMs: until - now }
  return refuse('participant_paused', texts.paused, values, extras)
}

/** Refuses everything while the gateway stops, or the log fails or falls behind: `unavailable` [MEUP-4.10]. Reads still work. */
export function available({ envelope }: AdmissionContext, { stopped }: Admission): StepOutcome {
  return stopped === undefined || envelope.kind === Kind.observeSubscribe
    ? undefined
    : refuse('unavailable', texts.stopped, { reason: stopped })
}

/** Refuses further chats between agents that only answer each other: `rate_limited` [MEUP-7.4]. */
export const hopRights: Right = ({ envelope }, { state, config }) => {
  const { agentHops } = config.limits
  if (state.hops.of(envelope) <= agentHops) return undefined
  const details = { class: 'chat', limit: 'agentHops' }
  return refuse('rate_limited', texts.hops, { chats: agentHops }, { details })
}
