import { WorkError } from '@meup/protocol'
import { LogError } from '../../log/error.js'
import type { Logger } from '../../ports/logger.js'
import type { Admission, AdmissionContext, Outcome } from './context.js'
import { pass } from './index.js'

/** What fails here fails one envelope: nothing has been changed yet, and the others go on. */
export function attempt(
  admission: AdmissionContext,
  space: Admission & { readonly logger: Logger },
): Outcome {
  try {
    return pass(admission, space)
  } catch (err) {
    if (err instanceof WorkError) {
      return { code: 'payload_too_large', message: `${err.message}; send less of them in one envelope` }
    }
    space.logger.error({ space: space.config.name, err }, 'an envelope could not be decided on')
    return err instanceof LogError
      ? { code: 'unavailable', message: 'the log cannot be read; send it again later' }
      : { code: 'internal', message: 'the gateway failed on this envelope; tell the operator' }
  }
}
