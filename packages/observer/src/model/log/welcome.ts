import {
  type Envelope,
  GATEWAY,
  Kind,
  PROTOCOL,
  type PresencePayload,
  type WelcomePayload,
} from '@meup/protocol'

/** Wraps a welcome in an envelope, so that folds can apply it like any other. */
export const welcomeEnvelope = (payload: WelcomePayload, now: number): Envelope => ({
  protocol: PROTOCOL,
  id: 'welcome',
  ts: new Date(now).toISOString(),
  from: GATEWAY,
  kind: Kind.systemWelcome,
  payload,
})

/**
 * The welcome as of the first loaded envelope: undoes joins and leaves in `envelopes`. Empty if the log is loaded from its
 * start.
 */
export function welcomeBefore(welcome: WelcomePayload, envelopes: readonly Envelope[]): WelcomePayload {
  const [first] = envelopes
  const isWhole = first?.seq === 1
  return {
    ...welcome,
    space: { ...welcome.space, head: 0 },
    participants: isWhole ? [] : participantsBefore(welcome, envelopes),
    contexts: welcome.contexts.filter(({ startedAt }) => !isWhole && startedAt < (first?.ts ?? '')),
  }
}

function participantsBefore({ participants }: WelcomePayload, envelopes: readonly Envelope[]) {
  const before = new Map(
    participants.map(({ id, kind, capabilities, status }) => [id, { id, kind, capabilities, status }]),
  )
  const moved = new Set<string>()
  for (const { kind, from, payload } of envelopes) {
    if (kind !== Kind.systemPresence || from !== GATEWAY) continue
    const { event, participant } = payload as PresencePayload
    if (event === 'update' || moved.has(participant.id)) continue
    moved.add(participant.id)
    const known = before.get(participant.id)
    // Undoes a participant's first event: if it is a leave, the participant was present before; if it is a join, it was not.
    if (event === 'leave') {
      const { id, capabilities = known?.capabilities ?? [] } = participant
      before.set(id, { id, kind: known?.kind ?? 'agent', capabilities, status: 'present' })
    } else if (known !== undefined) before.set(known.id, { ...known, status: 'away' })
  }
  return [...before.values()]
}
