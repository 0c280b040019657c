import { type Envelope, Kind } from '@meup/protocol'
import { Contexts } from './contexts.js'
import { Participants } from './participants.js'
import { Requests } from './requests.js'

/**
 * Everything the gateway decides by. It is changed by `apply` alone, with each envelope in log order: when one is
 * admitted, and when the log is replayed at start. The same log always gives the same state [MEUP-3.4].
 */
export class SpaceState {
  readonly participants = new Participants()
  readonly contexts = new Contexts()
  readonly requests = new Requests()
  /** What the operator configured, as it was last recorded. */
  configured: Readonly<Record<string, unknown>> | undefined

  apply(envelope: Envelope): void {
    this.participants.apply(envelope)
    this.contexts.apply(envelope)
    this.requests.apply(envelope)
    if (envelope.kind === Kind.systemSpace && envelope.payload.event === 'configured')
      this.configured = envelope.payload
  }
}
