import { Kind } from '@meup/protocol'
import { explainKick } from '../state/trust/kicks.js'
import type { Admission, AdmissionContext, Refusal } from './context.js'

/** Whoever was kicked does nothing more, on whichever line: before its connections are closed, too [MEUP-3.14]. */
export function kickedOut({ sender }: AdmissionContext, { state }: Admission): Refusal | undefined {
  const kick = state.trust.kicks.get(sender.participant)
  return kick && { code: 'forbidden', message: explainKick(kick) }
}

/** What lets others finish, and tells how one is doing [MEUP-3.13]. */
const allowed: ReadonlySet<string> = new Set([
  Kind.chatAcknowledge,
  Kind.chatCancel,
  Kind.mcpResponse,
  Kind.mcpWithdraw,
  Kind.reasoningCancel,
  Kind.reasoningConclusion,
  Kind.participantStatus,
  Kind.observeSubscribe,
])

/** Somebody has stopped the sender: `participant_paused`, on all its connections and over HTTP. */
export function paused(
  { envelope, sender, now }: AdmissionContext,
  { state }: Admission,
): Refusal | undefined {
  const pause = state.pauses.of(sender.participant, now)
  if (pause === undefined || allowed.has(envelope.kind)) return undefined
  const { by, reason, until } = pause
  const end = until === undefined ? `${by} or another resumes it` : new Date(until).toISOString()
  return {
    code: 'participant_paused',
    message: `${by} has paused ${sender.participant}${reason ? ` (${reason})` : ''}; wait until ${end}`,
    ...(until !== undefined && { retryAfterMs: until - now }),
  }
}
