import type { Envelope } from '@meup/protocol'
import type { EnvelopeLog } from '../ports/envelope-log.js'
import { SpaceState } from './state.js'

const page = 1000
const decoder = new TextDecoder()

/** The state that a log adds up to [MEUP-3.4]. */
export async function replay(log: EnvelopeLog): Promise<SpaceState> {
  const state = new SpaceState()
  for (let after = 0; after < log.head; ) {
    const rows = await log.read({ after, limit: page })
    for (const row of rows) {
      state.apply({ ...(JSON.parse(decoder.decode(row.body)) as Envelope), seq: row.seq })
      after = row.seq
    }
  }
  return state
}
