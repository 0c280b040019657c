import { Kind } from '@meup/protocol'
import type { Admission, AdmissionContext, Outcome } from './context.js'

/**
 * Nothing is admitted while the gateway stops, nor while the log fails or falls behind: `unavailable` [MEUP-4.10]. To
 * read is possible all the same.
 */
export function available({ envelope }: AdmissionContext, { stopped }: Admission): Outcome {
  return stopped === undefined || envelope.kind === Kind.observeSubscribe
    ? undefined
    : { code: 'unavailable', message: `${stopped}; send it again later` }
}
