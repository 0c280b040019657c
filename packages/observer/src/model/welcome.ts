import { type Envelope, GATEWAY, Kind, PROTOCOL, type WelcomePayload } from '@meup/protocol'

/** What the gateway says to whoever enters, as the envelope that it was: the views read it like any other. */
export const welcomeEnvelope = (payload: WelcomePayload, now: number): Envelope => ({
  protocol: PROTOCOL,
  id: 'welcome',
  ts: new Date(now).toISOString(),
  from: GATEWAY,
  kind: Kind.systemWelcome,
  payload,
})
