import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'
import type { Seat } from '../participant/seat.js'

/** Ends a context that has come to nothing. One who may send the core kinds alone concludes it, and says so. */
export async function breakOff(
  seat: Pick<Seat, 'send'>,
  context: string,
  reason: string,
): Promise<AnyEnvelope> {
  try {
    return await seat.send({ kind: Kind.reasoningCancel, context, payload: { reason } })
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== 'capability_violation') throw error
    const payload = { message: reason, metadata: { cancelled: true } }
    return seat.send({ kind: Kind.reasoningConclusion, context, payload })
  }
}
