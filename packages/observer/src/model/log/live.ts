import { cut, describe, isElicitation, printable, sentence } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import { noRedaction, stripMarkdown } from '../text.js'

const maxAnnouncementChars = 120
/** Announcements read aloud at once; further ones are only counted. */
const maxAnnouncements = 3
/** Envelopes used to compare the clocks. */
const maxClockSamples = 32
const rateWindowMs = 5000

/** Announcements, the envelope rate and the gateway's clock, updated as envelopes arrive. Times are milliseconds since 1970. */
export class Live {
  readonly #muted: ReadonlySet<string>
  #announcements: string[] = []
  /** Arrival times, for the rate. */
  readonly #times: number[] = []
  /** Minimum milliseconds by which the gateway's clock is ahead. */
  #clockOffsets: number[] = []

  /** `muted`: participants whose reasoning is not announced. */
  constructor(muted: ReadonlySet<string>) {
    this.#muted = muted
  }

  /** `now`: arrival time by the local clock; never decreasing. */
  onEnvelope(envelope: Envelope, now: number): void {
    const { from, kind, ts } = envelope
    const text = this.#muted.has(from) && kind !== Kind.mcpProposal ? undefined : formatAnnouncement(envelope)
    if (text !== undefined) this.#announcements.push(text)
    this.#times.push(now)
    if (this.#times.length > 20_000) this.#times.splice(0, 10_000)
    this.addClockSample(Date.parse(ts), now)
  }

  /** Returns the announcements since the last call (runs, messages, proposals), for screen readers; `''` if none. */
  drainAnnouncements(): string {
    const texts = this.#announcements
    this.#announcements = []
    const rest = texts.length - maxAnnouncements
    return [...texts.slice(0, maxAnnouncements), ...(rest > 0 ? [`and ${rest} more`] : [])].join('. ')
  }

  /** Recent envelopes per second. */
  rate(now: number): number {
    const first = this.#times.findIndex((time) => time > now - rateWindowMs)
    this.#times.splice(0, first === -1 ? this.#times.length : first)
    return this.#times.length / (rateWindowMs / 1000)
  }

  /** A gateway time that arrived at `now`. Only the latest samples count, so that clock adjustments are followed. */
  addClockSample(gatewayTime: number, now: number): void {
    const offset = gatewayTime - now
    if (Number.isFinite(offset))
      this.#clockOffsets = [...this.#clockOffsets.slice(1 - maxClockSamples), offset]
  }

  /** The gateway's time at `now`, by the sample that arrived fastest; `now` itself without samples. */
  gatewayTime(now: number): number {
    return this.#clockOffsets.length === 0 ? now : now + Math.max(...this.#clockOffsets)
  }
}

const announced: ReadonlySet<string> = new Set([Kind.reasoningConclusion, Kind.mcpProposal])
/** Announced outside of runs. */
const announcedOutside: ReadonlySet<string> = new Set([Kind.reasoningStart, Kind.chat])

function formatAnnouncement(envelope: Envelope): string | undefined {
  const { kind, context, payload } = envelope
  const isQuestion = kind === Kind.mcpRequest && isElicitation(payload)
  if (!isQuestion && !announced.has(kind) && (context !== undefined || !announcedOutside.has(kind)))
    return undefined
  const description = describe(envelope, noRedaction)
  const detail = cut(stripMarkdown(printable(description.detail)), maxAnnouncementChars)
  return sentence({ ...description, detail })
}
