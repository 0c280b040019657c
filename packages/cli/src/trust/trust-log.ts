import { type AnyEnvelope, Kind } from '@meup/protocol'
import { type ConnectionFlags, destination } from '../connection.js'
import { print, printJson } from '../output.js'
import { readLog } from '../reading.js'
import { pastOf } from './terms.js'
import { trustText } from './trust-text.js'

export interface LogFlags extends ConnectionFlags {
  readonly participant?: string
  readonly since?: string
  readonly until?: string
}

const kinds: readonly string[] = [
  Kind.systemDecision,
  Kind.capabilityGrant,
  Kind.capabilityRevoke,
  Kind.capabilityGrantAck,
  Kind.spaceInvite,
  Kind.spaceKick,
  Kind.participantPause,
  Kind.participantResume,
]

/** `meup caps log`: what was decided about participants, and by whom; the last `limit` of it, in log order. */
export async function printTrustLog(
  limit: number,
  { participant, since, until, ...flags }: LogFlags,
): Promise<void> {
  const from = since === undefined ? Number.NEGATIVE_INFINITY : pastOf(since, '--since')
  const to = until === undefined ? Number.POSITIVE_INFINITY : pastOf(until, '--until')
  const found: AnyEnvelope[] = []
  for await (const envelope of readLog(destination(flags), { kind: kinds.join() }, 'desc')) {
    const at = Date.parse(envelope.ts)
    const isWanted = participant === undefined || concernedBy(envelope).includes(participant)
    if (at >= from && at < to && isWanted) found.push(envelope)
    if (found.length === limit) break
  }
  for (const envelope of found.reverse()) {
    if (flags.json) printJson(envelope)
    else print(trustText(envelope))
  }
}

/** Who did it, and whom it was done to. */
function concernedBy({ from, to = [], payload }: AnyEnvelope): unknown[] {
  const { recipient, participantId } = payload as { recipient?: unknown; participantId?: unknown }
  return [from, ...to, recipient, participantId]
}
