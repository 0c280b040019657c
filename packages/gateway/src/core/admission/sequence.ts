import type { Admission, AdmissionContext, Outcome } from './context.js'

/** Gives the envelope its place, and folds it into the state: from here on it is admitted [MEUP-4.9]. */
export function sequence(
  { envelope, encoded, sender, writtenId: id = '' }: AdmissionContext,
  space: Admission,
): Outcome {
  space.admit(envelope, encoded, { sender, id })
  return undefined
}
