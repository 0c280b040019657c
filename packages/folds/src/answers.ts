import { correlations, type Envelope, GATEWAY, Kind, type PresencePayload } from '@meup/protocol'
import { Bounded } from './bounded.js'

/** An answer as it is written: what its deltas have told so far. */
export interface LiveAnswer {
  readonly from: string
  /** Id of the envelope that it answers. */
  readonly trigger: string
  readonly to?: readonly string[]
  readonly text: string
  /** How often it was begun: text that is shown and does not begin the new one was no part of the answer. */
  readonly beginning: number
}

interface Draft extends LiveAnswer {
  /** Of the next delta; `undefined` = one was missed, so that nothing is shown until it starts over. */
  readonly next: number | undefined
}

/** Answers that are written at the same time; past so many the oldest are forgotten. */
const maxAnswers = 256
/** Characters of an answer that are kept; the rest is read in the `chat`. */
const maxChars = 256 * 1024

/**
 * Answers that are being written, from `chat.delta` [MEUP-3.25]. The `chat` that follows is the answer, and ends them; who
 * missed deltas misses nothing.
 */
export class LiveAnswers {
  readonly #drafts = new Bounded<Draft>(maxAnswers)
  /** When what was written to its end came, by sender and trigger: deltas that come later are ignored. */
  readonly #answered = new Bounded<string>(maxAnswers)

  /** Those of which something is known, in the order in which they began. */
  list(): LiveAnswer[] {
    return [...this.#drafts.values()].filter(({ text }) => text !== '')
  }

  /** Whether the answers that are being written have changed. */
  apply(envelope: Envelope): boolean {
    const { kind, from, to, ts, correlationId, context, payload } = envelope
    if (kind === Kind.chatDelta && typeof correlationId === 'string') {
      const { index, text } = payload as { readonly index: number; readonly text: string }
      return this.#write({ from, trigger: correlationId, ...(to && { to }), text }, index, ts)
    }
    if (kind === Kind.chat && context === undefined) {
      const about = correlations(envelope)
      return about.map((trigger) => this.#end(from, trigger, ts)).includes(true)
    }
    return kind === Kind.systemPresence && from === GATEWAY && this.#leave(payload as PresencePayload)
  }

  #write(said: Pick<LiveAnswer, 'from' | 'trigger' | 'to' | 'text'>, index: number, ts: string): boolean {
    const key = keyOf(said.from, said.trigger)
    if (ts <= (this.#answered.get(key) ?? '')) return false
    const draft = this.#drafts.get(key)
    if (index === 0) {
      this.#drafts.set(key, { ...said, beginning: (draft?.beginning ?? 0) + 1, next: 1 })
      return true
    }
    if (draft === undefined || draft.next === undefined) return false
    const isNext = index === draft.next && draft.text.length + said.text.length <= maxChars
    this.#drafts.set(
      key,
      isNext
        ? { ...draft, text: draft.text + said.text, next: index + 1 }
        : { ...draft, text: '', next: undefined },
    )
    return true
  }

  #end(from: string, trigger: string, ts: string): boolean {
    const key = keyOf(from, trigger)
    this.#answered.set(key, ts)
    return this.#drafts.delete(key)
  }

  /** Who has left finishes nothing. */
  #leave({ event, participant }: PresencePayload): boolean {
    if (event !== 'leave') return false
    const left = this.#drafts.snapshot().filter(([, { from }]) => from === participant.id)
    for (const [key] of left) this.#drafts.delete(key)
    return left.length > 0
  }
}

const keyOf = (from: string, trigger: string): string => `${from} ${trigger}`
