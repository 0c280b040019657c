import type { Envelope } from '@meup/protocol'
import { LogError } from '../log/error.js'
import type { Entry, EnvelopeLog } from '../ports/envelope-log.js'
import { SpaceState } from './state.js'

const page = 1000
const decoder = new TextDecoder()

/** The state that a log adds up to [MEUP-3.4], with what has been pruned of it and as far as `through`. */
export async function replay(log: EnvelopeLog, through = log.head): Promise<SpaceState> {
  const { snapshot } = log
  const state = snapshot === undefined ? new SpaceState() : SpaceState.from(snapshot.bytes)
  let last = snapshot?.through ?? 0
  while (last < through) {
    const rows = await log.read({ after: last, before: through + 1, limit: page })
    if (rows[0]?.seq !== last + 1)
      throw new Error(`row ${last + 1} of the log is missing, or has just been pruned`)
    for (const row of rows) {
      state.apply(envelopeOf(row), row.body)
      last = row.seq
    }
  }
  return state
}

/** Throws a `LogError` of code `corrupt` where the row is damaged. */
export function envelopeOf({ seq, body }: Pick<Entry, 'seq' | 'body'>): Envelope {
  try {
    return { ...(JSON.parse(decoder.decode(body)) as Envelope), seq }
  } catch (cause) {
    throw new LogError('corrupt', `Row ${seq} of the log cannot be read. Verify the log.`, { cause })
  }
}
