import type { AnyEnvelope } from '@meup/agent-sdk/watch'
import { grantKinds } from '@meup/folds'
import { readHistory } from './http.js'
import type { Place } from './place.js'

/** All that the log tells of who was given what. Rejects as `readHistory` does. */
export async function readGrants(place: Place): Promise<readonly AnyEnvelope[]> {
  const { envelopes } = await readHistory(place, { kind: grantKinds.join() })
  return envelopes
}
