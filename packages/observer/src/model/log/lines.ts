import { isFailure, isNotification } from '@meup/folds'
import { correlations, type Envelope, Kind, type PresencePayload } from '@meup/protocol'

const kindsWithoutLine: ReadonlySet<string> = new Set([
  Kind.mcpReject,
  Kind.mcpWithdraw,
  Kind.chatAcknowledge,
  Kind.chatCancel,
  Kind.participantStatus,
  Kind.participantRequestStatus,
])

/** Whether no row is created for an envelope. */
export function hasNoLine({ kind, payload }: Envelope): boolean {
  if (kind === Kind.systemPresence) {
    const { event, program, ended, session } = payload as PresencePayload
    const isNews = ended !== undefined || session?.event === 'replaced' || isFailure(program)
    return event === 'update' && !isNews
  }
  return kindsWithoutLine.has(kind) || (kind === Kind.mcpRequest && isNotification(payload))
}

/**
 * Id of the envelope whose row shows this one, such as the call of a response. `undefined` if no row does, and for joins and
 * leaves, several of which may share a row.
 */
export function getLineId(envelope: Envelope): string | undefined {
  const { id, kind } = envelope
  if (kind === Kind.mcpResponse || kind === Kind.mcpReject || kind === Kind.mcpWithdraw)
    return correlations(envelope)[0] ?? id
  return kind === Kind.systemPresence || hasNoLine(envelope) ? undefined : id
}
