import { type Envelope, Kind } from '@meup/protocol'
import { Contexts, type ContextsSnapshot } from './contexts.js'
import { Participants, type ParticipantsSnapshot } from './participants.js'
import { Requests, type RequestsSnapshot } from './requests.js'

interface Snapshot {
  readonly version: number
  readonly participants: ParticipantsSnapshot
  readonly contexts: ContextsSnapshot
  readonly requests: RequestsSnapshot
  readonly configured?: Readonly<Record<string, unknown>>
}

/** Of the format of snapshots. A later version reads the earlier ones too, as logs hold them. */
const version = 1

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

  /** The state of which `toSnapshot` gave these bytes. Throws where a newer gateway wrote them. */
  static from(bytes: Uint8Array): SpaceState {
    const snapshot = JSON.parse(new TextDecoder().decode(bytes)) as Snapshot
    if (snapshot.version !== version) {
      const found = `The snapshot of the log has the format ${snapshot.version}; this gateway knows ${version}.`
      throw new Error(`${found} Start the newer gateway.`)
    }
    const state = new SpaceState()
    state.participants.restore(snapshot.participants)
    state.contexts.restore(snapshot.contexts)
    state.requests.restore(snapshot.requests)
    state.configured = snapshot.configured
    return state
  }

  apply(envelope: Envelope): void {
    this.participants.apply(envelope)
    this.contexts.apply(envelope)
    this.requests.apply(envelope)
    if (envelope.kind === Kind.systemSpace && envelope.payload.event === 'configured')
      this.configured = envelope.payload
  }

  /** All of it, to stand for the envelopes that made it [MEUP-10.3]: equal states give equal bytes. */
  toSnapshot(): Uint8Array {
    const snapshot: Snapshot = {
      version,
      participants: this.participants.snapshot(),
      contexts: this.contexts.snapshot(),
      requests: this.requests.snapshot(),
      ...(this.configured && { configured: this.configured }),
    }
    return new TextEncoder().encode(JSON.stringify(snapshot))
  }
}
