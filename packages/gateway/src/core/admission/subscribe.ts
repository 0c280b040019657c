import { Kind, PatternError, type SubscribePayload } from '@meup/protocol'
import type { Admission, AdmissionContext, Outcome } from './context.js'

/** `observe.subscribe` ends here: it changes its own connection and is answered by a welcome [MEUP-9.1]. */
export function subscribe({ envelope, sender, meter, now }: AdmissionContext, space: Admission): Outcome {
  if (envelope.kind !== Kind.observeSubscribe) return undefined
  if (sender.subscribe === undefined) {
    return {
      code: 'invalid_request',
      message: 'a subscription belongs to a connection; send it over a socket',
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
