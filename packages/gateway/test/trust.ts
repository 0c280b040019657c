import type { Gateway } from '@meup/gateway'
import { FakeClock, type TestSpaceOptions, testSpaceConfig } from '@meup/gateway/testing'
import type { Capability, Envelope, WelcomePayload } from '@meup/protocol'
import type { Client, Sent } from './client.js'

/** A clock whose timers never fire. */
export class NoTimers extends FakeClock {
  override after(): () => void {
    return () => {}
  }
}

/** Envelopes that change grants and membership. */
export const grant = (recipient: string, capabilities: Capability[], more: object = {}): Sent => ({
  kind: 'capability.grant',
  payload: { recipient, capabilities, ...more },
})

export const revoke = (
  recipient: string,
  what: { grantId: string } | { capabilities: Capability[] },
): Sent => ({
  kind: 'capability.revoke',
  payload: { recipient, ...what },
})

export const answer = (grantId: string, status: string): Sent => ({
  kind: 'capability.grant-ack',
  correlationId: grantId,
  payload: { status },
})

export const invite = (participantId: string, capabilities: Capability[] = [], more: object = {}): Sent => ({
  kind: 'space.invite',
  payload: { participantId, capabilities, ...more },
})

export const kick = (participantId: string, more: object = {}): Sent => ({
  kind: 'space.kick',
  payload: { participantId, ...more },
})

export const chat = (message = 'hello', more: object = {}): Sent => ({
  kind: 'chat',
  payload: { message },
  ...more,
})

/** An envelope of a custom kind. */
export const act = (kind: string, more: object = {}): Sent => ({ kind, payload: {}, ...more })

/** Matches the presence update of a participant's capabilities; with `capabilities`, only to these. */
export const update =
  (id: string, capabilities?: Capability[]) =>
  ({ kind, payload }: Envelope): boolean => {
    const { event, participant } = payload as {
      event?: string
      participant?: { id: string; capabilities: [] }
    }
    if (kind !== 'system.presence' || event !== 'update' || participant?.id !== id) return false
    return capabilities === undefined || isSame(participant.capabilities, capabilities)
  }

/** Matches a welcome that lists these capabilities. */
export const welcomeWith =
  (capabilities: Capability[]) =>
  ({ kind, payload }: Envelope): boolean =>
    kind === 'system.welcome' && isSame((payload as WelcomePayload).you.capabilities, capabilities)

/** Sends an envelope, and returns the code of its refusal. */
export const codeOf = async (client: Client, sent: Sent): Promise<string> => (await client.refused(sent)).code

export const welcomes = ({ frames }: Client): Envelope[] =>
  frames.filter(({ kind }) => kind === 'system.welcome')

/** Applies a changed configuration; the tokens stay the same. */
export const reconfigure = (gateway: Gateway, options: TestSpaceOptions): Promise<void> =>
  gateway.reconfigure([testSpaceConfig(options)])

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
