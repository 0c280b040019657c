import { type Envelope, Kind } from '@meup/protocol'
import { Announcer } from './announcer.js'
import { GatewayClock } from './clock.js'
import { Rate } from './rate.js'

/** What is told and measured while envelopes come. */
export class Live {
  readonly announcer = new Announcer()
  readonly clock = new GatewayClock()
  readonly #rate = new Rate()
  readonly #muted: ReadonlySet<string>

  /** `muted`: those whose thoughts are not to be told. */
  constructor(muted: ReadonlySet<string>) {
    this.#muted = muted
  }

  /** It came at `now`, in milliseconds by the clock of this machine. */
  hear(envelope: Envelope, now: number): void {
    const { from, kind, ts } = envelope
    if (!this.#muted.has(from) || kind === Kind.mcpProposal) this.announcer.take(envelope)
    this.#rate.add(now)
    this.clock.hear(Date.parse(ts), now)
  }

  /** Envelopes a second, lately. */
  rate(now: number): number {
    return this.#rate.perSecond(now)
  }
}
