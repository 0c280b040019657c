import { PatternError, type SubscribePayload } from '@meup/protocol'
import { refuse } from '../refusal.js'
import { texts } from '../refusal-texts.js'
import type { Admission, AdmissionContext, StepOutcome } from './admission-context.js'

/** Answers `observe.subscribe`: changes the sender's connection, and sends it a welcome [MEUP-9.1]. Nothing is logged. */
export function subscribe({ envelope, sender, meter, now }: AdmissionContext, space: Admission): StepOutcome {
  if (sender.subscribe === undefined) return refuse('invalid_request', texts.subscription)
  try {
    const bytes = sender.subscribe(envelope.payload as SubscribePayload, envelope.id, meter)
    // The welcome describes the whole space and may be many times larger than the request, so its bytes are charged as well.
    space.rates.charge(sender.rateLimitKey, 'bytes', bytes, now)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    const path = `/payload${error.path}`
    return refuse('invalid_payload', texts.invalidPattern, { path, problem: error.problem }, { path })
  }
  return { answered: true, id: envelope.id, seq: 0 }
}
