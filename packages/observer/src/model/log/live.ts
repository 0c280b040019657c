import { cut, describe, isElicitation, type ProposalView, printable, sentence } from '@meup/folds'
import { type Envelope, Kind } from '@meup/protocol'
import { nameText, noRedaction, stripMarkdown } from '../text.js'

const maxAnnouncementChars = 120
/** Announcements read aloud together; further ones are only counted. */
const maxAnnouncements = 3
/** Number of latest envelopes from which the difference between the gateway's clock and the local one is estimated. */
const maxClockSamples = 32
const rateWindowMs = 5000

/** Announcements, envelope rate and gateway clock, updated as envelopes arrive. Times are ms since the epoch. */
export class Live {
  readonly #muted: ReadonlySet<string>
  #announcements: string[] = []
  /** Arrival times, for the rate. */
  readonly #times: number[] = []
  /**
   * Differences between the gateway's timestamps and the local arrival times, in ms: the gateway's clock is at least so far
   * ahead.
   */
  #clockOffsets: number[] = []

  /** `muted`: participants whose reasoning is not announced. */
  constructor(muted: ReadonlySet<string>) {
    this.#muted = muted
  }

  /**
   * `now`: arrival time by the local clock, which must not decrease. `proposal`: the one that the envelope approves, rejects or
   * withdraws.
   */
  onEnvelope(envelope: Envelope, now: number, proposal?: ProposalView, reader?: string): void {
    const { from, kind, ts } = envelope
    const isSilent = this.#muted.has(from) && kind !== Kind.mcpProposal
    const isOwn = from === reader && kind === Kind.chat
    const text = isSilent || isOwn ? undefined : formatAnnouncement(envelope, proposal)
    if (text !== undefined) this.#announcements.push(text)
    this.#times.push(now)
    if (this.#times.length > 20_000) this.#times.splice(0, 10_000)
    this.addClockSample(Date.parse(ts), now)
  }

  /** Returns and clears the announcements for screen readers (runs, messages, proposals, decisions); `''` if there are none. */
  drainAnnouncements(): string {
    const texts = this.#announcements
    this.#announcements = []
    const rest = texts.length - maxAnnouncements
    return [...texts.slice(0, maxAnnouncements), ...(rest > 0 ? [`and ${rest} more`] : [])].join('. ')
  }

  /** Envelopes per second, over the last five seconds. */
  rate(now: number): number {
    const first = this.#times.findIndex((time) => time > now - rateWindowMs)
    this.#times.splice(0, first === -1 ? this.#times.length : first)
    return this.#times.length / (rateWindowMs / 1000)
  }

  /** Adds a gateway timestamp that arrived at `now`. Only recent samples count, so that clock adjustments take effect. */
  addClockSample(gatewayTime: number, now: number): void {
    const offset = gatewayTime - now
    if (Number.isFinite(offset))
      this.#clockOffsets = [...this.#clockOffsets.slice(1 - maxClockSamples), offset]
  }

  /** Estimates the gateway's time at `now`, from the sample with the least delay; `now` itself without samples. */
  gatewayTime(now: number): number {
    return this.#clockOffsets.length === 0 ? now : now + Math.max(...this.#clockOffsets)
  }
}

const announced: ReadonlySet<string> = new Set([Kind.reasoningConclusion, Kind.mcpProposal])
/** Kinds that are announced only outside of runs. */
const announcedOutside: ReadonlySet<string> = new Set([Kind.reasoningStart, Kind.chat])

const decided: Readonly<Record<string, string>> = {
  [Kind.mcpRequest]: 'approves',
  [Kind.mcpReject]: 'rejects',
  [Kind.mcpWithdraw]: 'withdraws',
}

function formatAnnouncement(envelope: Envelope, proposal: ProposalView | undefined): string | undefined {
  const { kind, context, from, payload } = envelope
  if (proposal !== undefined && decided[kind] !== undefined)
    return `${from} ${decided[kind]} ${nameText(proposal.tool)}, proposed by ${proposal.source.from}`
  const isQuestion = kind === Kind.mcpRequest && isElicitation(payload)
  if (!isQuestion && !announced.has(kind) && (context !== undefined || !announcedOutside.has(kind)))
    return undefined
  const description = describe(envelope, noRedaction)
  const detail = cut(stripMarkdown(printable(description.detail)), maxAnnouncementChars)
  return sentence({ ...description, detail })
}
