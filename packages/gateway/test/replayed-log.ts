import { memoryStore } from '@meup/gateway'
import type { Envelope } from '@meup/protocol'
import type { SpaceState } from '../src/core/state/state.js'

/** A log in memory that contains the envelopes. */
export async function logOf(envelopes: readonly Envelope[]) {
  const log = await memoryStore().open('main')
  await log.append(
    envelopes.map((envelope, index) => {
      const { id, ts, from, kind } = envelope
      const body = Buffer.from(JSON.stringify(envelope))
      return { seq: index + 1, id, ts, from, kind, body, content: body }
    }),
  )
  return log
}

export const textOf = (state: SpaceState): string => Buffer.from(state.toSnapshot()).toString()
