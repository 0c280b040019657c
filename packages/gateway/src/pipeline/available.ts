import type { Admission, Outcome, Passage } from './passage.js'

/** Nothing is admitted while the gateway stops, nor while the log fails or falls behind: `unavailable` [MEUP-4.10]. */
export function available(_passage: Passage, { stopped }: Admission): Outcome {
  return stopped === undefined
    ? undefined
    : { code: 'unavailable', message: `${stopped}; send it again later` }
}
