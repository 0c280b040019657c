import { type Envelope, Kind, PatternError, type RateClass, type SubscribePayload } from '@meup/protocol'
import { getRateClass } from '../metering.js'
import { explainKick } from '../state/trust/trust.js'
import {
  type Admission,
  type AdmissionContext,
  isRefusal,
  type Outcome,
  type Refusal,
  type Right,
  type Step,
} from './context.js'

/** Charges the class, and stops who is kicked or paused: `rate_limited`, `forbidden`, `participant_paused` [MEUP-7.1]. */
export const limit: Step = (admission, space) =>
  checkClassRate(admission, space) ?? checkKick(admission, space) ?? paused(admission, space)

/** A step before `limit` whose refusals cost their class too. What it answers, a retry, costs none [MEUP-7.3]. */
export const withRateLimit =
  (step: Step): Step =>
  (admission, space) => {
    const outcome = step(admission, space)
    return outcome && isRefusal(outcome) ? (checkClassRate(admission, space) ?? outcome) : outcome
  }

const checkClassRate = (admission: AdmissionContext, space: Admission): Outcome =>
  chargeEnvelope(admission, space, getRateClass(admission.envelope.kind))

/** Charges one of a class. What may wait for its rate is paid at once: so those who wait come in order [MEUP-7.9]. */
export function chargeEnvelope(admission: AdmissionContext, space: Admission, rateClass: RateClass): Outcome {
  const { sender, overRate, envelope, now } = admission
  if (overRate === 'paid') return undefined
  if (overRate === 'refuse') return checkRate(admission, space, rateClass, 1)
  space.rates.charge(sender.rateLimitKey, rateClass, 1, now)
  const dueInMs = space.rates.wait(sender.rateLimitKey, rateClass, now)
  return dueInMs === 0 ? undefined : { id: envelope.id, seq: 0, dueInMs }
}

/** Charges the sender; the refusal says when to try again. */
function checkRate(
  { sender, now }: AdmissionContext,
  space: Admission,
  rateClass: RateClass,
  cost: number,
): Refusal | undefined {
  const retryAfterMs = space.rates.take(sender.rateLimitKey, rateClass, cost, now)
  if (retryAfterMs === 0) return undefined
  return {
    code: 'rate_limited',
    message: `Over the rate for ${rateClass}. Send again in ${retryAfterMs} ms.`,
    retryAfterMs,
    details: { class: rateClass },
  }
}

/** Nobody fills the disk: what is appended is charged to its sender, however much its other rates allow [MEUP-7.2]. */
export function limitLog(admission: AdmissionContext, space: Admission): Outcome {
  const { sender, encoded, envelope, now } = admission
  const length = encoded.body.length + measureEnd(envelope)
  let refusal = checkRate(admission, space, 'log', length)
  if (refusal !== undefined) {
    const { burst } = space.rates.getRate(sender.rateLimitKey, 'log')
    // One that is larger than all that can be saved up is taken where nothing was used.
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
/** Approximate bytes of an envelope that tells of an end by time. */
const endBytes = 256

/** Bytes of the envelopes that will tell of this envelope's end by time; a pause has one for each participant that it stops [MEUP-3.28]. */
function measureEnd({ kind, to, payload }: Envelope): number {
  if (!ending.has(kind) || (payload.expiresAt ?? payload.timeoutSeconds) === undefined) return 0
  return endBytes * (kind === Kind.participantPause ? (to?.length ?? 0) : 1)
}

/** A kicked participant is refused on every connection, even before they are closed [MEUP-3.14]. */
function checkKick({ sender }: AdmissionContext, { state }: Admission): Refusal | undefined {
  const kick = state.trust.kicks.get(sender.participant)
  return kick && { code: 'forbidden', message: explainKick(kick) }
}

/** What lets others finish, and tells how one is doing [MEUP-3.13]. */
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

/** Somebody has stopped the sender: `participant_paused`, on all its connections and over HTTP. */
function paused({ envelope, sender, now }: AdmissionContext, { state }: Admission): Refusal | undefined {
  const pause = state.pauses.get(sender.participant, now)
  if (pause === undefined || allowed.has(envelope.kind)) return undefined
  const { by, reason, until } = pause
  const end = until === undefined ? `${by} or another resumes it` : new Date(until).toISOString()
  return {
    code: 'participant_paused',
    message: `${by} has paused ${sender.participant}${reason ? ` (${reason})` : ''}. Wait until ${end}.`,
    ...(until !== undefined && { retryAfterMs: until - now }),
  }
}

/**
 * Nothing is admitted while the gateway stops, nor while the log fails or falls behind: `unavailable` [MEUP-4.10]. To
 * read is possible all the same.
 */
export function available({ envelope }: AdmissionContext, { stopped }: Admission): Outcome {
  return stopped === undefined || envelope.kind === Kind.observeSubscribe
    ? undefined
    : { code: 'unavailable', message: `${stopped}. Send it again later.` }
}

/** `observe.subscribe` ends here: it changes its own connection and is answered by a welcome [MEUP-9.1]. */
export function subscribe({ envelope, sender, meter, now }: AdmissionContext, space: Admission): Outcome {
  if (envelope.kind !== Kind.observeSubscribe) return undefined
  if (sender.subscribe === undefined) {
    return {
      code: 'invalid_request',
      message: 'A subscription belongs to a connection. Send it over a socket.',
    }
  }
  try {
    const bytes = sender.subscribe(envelope.payload as SubscribePayload, envelope.id, meter)
    // The answer tells of the whole space, and may be many times larger than the question.
    space.rates.charge(sender.rateLimitKey, 'bytes', bytes, now)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    return { code: 'invalid_payload', path: `/payload${error.path}`, message: error.message }
  }
  return { answered: true, id: envelope.id, seq: 0 }
}

/** Agents that only answer each other wait for somebody else: `rate_limited`, for chat alone [MEUP-7.4]. */
export const hopRights: Right = ({ envelope }, { state, config }) => {
  const { agentHops } = config.limits
  if (state.hops.of(envelope) <= agentHops) return undefined
  return {
    code: 'rate_limited',
    message: `${agentHops} chats went from agent to agent. Wait until a human speaks, or a tool answers you.`,
    details: { class: 'chat', limit: 'agentHops' },
  }
}
