import { cut, onOneLine, toolNameOf } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import { getText, nameText, stripMarkdown } from '../text/text.js'

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
  onEnvelope(envelope: Envelope, now: number): void {
    const { from, kind, ts } = envelope
    if (!this.#muted.has(from) || kind === Kind.mcpProposal) this.announcer.onEnvelope(envelope)
    this.#rate.add(now)
    this.clock.addSample(Date.parse(ts), now)
  }

  /** Envelopes a second, lately. */
  rate(now: number): number {
    return this.#rate.perSecond(now)
  }
}

/** What is told of one envelope. */
const maxAnnouncementChars = 120
/** What is told at once; of more only how many. */
const maxAnnouncements = 3

/** What somebody who does not see the page is told: starts and ends of runs, and proposals; never what is thought. */
class Announcer {
  #texts: string[] = []

  onEnvelope(envelope: Envelope): void {
    const text = formatAnnouncement(envelope)
    if (text !== undefined) this.#texts.push(text)
  }

  /** All there is to tell since the last time; `''`: nothing. */
  drain(): string {
    const texts = this.#texts
    this.#texts = []
    const rest = texts.length - maxAnnouncements
    return [...texts.slice(0, maxAnnouncements), ...(rest > 0 ? [`and ${rest} more`] : [])].join('. ')
  }
}

function formatAnnouncement(envelope: Envelope): string | undefined {
  const { kind, from, context } = envelope
  const said = cut(onOneLine(stripMarkdown(getText(envelope))), maxAnnouncementChars)
  if (kind === Kind.reasoningStart && context === undefined) return `${from} began to think`
  if (kind === Kind.reasoningConclusion) return `${from} concluded${said === '' ? '' : `: ${said}`}`
  if (kind === Kind.mcpProposal) return `${from} proposes ${nameText(toolNameOf(envelope.payload))}`
  return kind === Kind.chat && context === undefined ? `${from} says: ${said}` : undefined
}

/** Envelopes by which the clocks are compared. */
const maxClockSamples = 32

/** What the gateway's clock says. Envelopes take a moment to come, so that the one that came fastest tells best. */
class GatewayClock {
  /** Milliseconds that the gateway's clock was ahead of this one, at least. */
  #ahead: number[] = []

  /**
   * `said`, by the gateway's clock, came at `now` by that of this machine, both in milliseconds since 1970. A clock that was
   * set is believed after a while.
   */
  addSample(said: number, now: number): void {
    const ahead = said - now
    if (Number.isFinite(ahead)) this.#ahead = [...this.#ahead.slice(1 - maxClockSamples), ahead]
  }

  /** What it says at `now`; where nothing is known, the clock of this machine. */
  at(now: number): number {
    return this.#ahead.length === 0 ? now : now + Math.max(...this.#ahead)
  }
}

/** Milliseconds over which it is counted. */
const rateWindowMs = 5000

/** How many a second, lately. */
class Rate {
  readonly #times: number[] = []

  /** `now` in milliseconds, never less than before. */
  add(now: number): void {
    this.#times.push(now)
    if (this.#times.length > 20_000) this.#times.splice(0, 10_000)
  }

  perSecond(now: number): number {
    const first = this.#times.findIndex((time) => time > now - rateWindowMs)
    this.#times.splice(0, first === -1 ? this.#times.length : first)
    return this.#times.length / (rateWindowMs / 1000)
  }
}
