import { correlations, type Envelope, GATEWAY, Kind, type PresencePayload } from '@meup/protocol'
import { Bounded } from './bounded.js'
import { getEnding } from './turns/record.js'

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

/** A run that answers something. */
interface AnsweringRun {
  readonly owner: string
  readonly triggers: readonly string[]
}

/** What is kept of answers that have ended, and of runs. */
const maxKnown = 256
/** Characters of an answer that are kept; the rest is read in the `chat`. */
const maxChars = 256 * 1024
/** Characters of all that are written at the same time; past so many the oldest are forgotten. Each counts as so many more. */
const [maxAllChars, charsPerAnswer] = [4 * maxChars, 4096]

/**
 * Answers that are being written, from `chat.delta` [MEUP-3.25]. The `chat` that follows is the answer, and ends them; who
 * missed deltas misses nothing.
 */
export class LiveAnswers {
  readonly #drafts = new Bounded<Draft>(maxAllChars, ({ text }) => charsPerAnswer + text.length)
  /** When what was written to its end came, by sender and trigger: later deltas are ignored. */
  readonly #ended = new Bounded<string>(maxKnown)
  /** By context: one that is cancelled may end without a `chat`. */
  readonly #runs = new Bounded<AnsweringRun>(maxKnown)

  /** Those of which something is known, in the order in which they began. */
  list(): LiveAnswer[] {
    return [...this.#drafts.values()].filter(({ text }) => text !== '')
  }

  /** Whether the answers that are being written have changed. */
  apply(envelope: Envelope): boolean {
    const { kind, id, from, to, ts, correlationId, context, payload } = envelope
    switch (kind) {
      case Kind.chatDelta: {
        if (typeof correlationId !== 'string') return false
        const { index, text } = payload as { readonly index: number; readonly text: string }
        return this.#write({ from, trigger: correlationId, ...(to && { to }), text }, index, ts)
      }
      case Kind.chat:
        return context === undefined && this.#end({ owner: from, triggers: correlations(envelope) }, ts)
      case Kind.reasoningStart:
        if (context === undefined) this.#runs.set(id, { owner: from, triggers: correlations(envelope) })
        return false
      case Kind.reasoningConclusion:
      case Kind.reasoningCancel:
        return getEnding(envelope)[0] !== 'completed' && this.#abandon(context ?? '', from, ts)
      case Kind.systemPresence:
        return from === GATEWAY && this.#leave(payload as PresencePayload)
      default:
        return false
    }
  }

  #write(said: Pick<LiveAnswer, 'from' | 'trigger' | 'to' | 'text'>, index: number, ts: string): boolean {
    const key = keyOf(said.from, said.trigger)
    if (ts <= (this.#ended.get(key) ?? '')) return false
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

  #end({ owner, triggers }: AnsweringRun, ts: string): boolean {
    const keys = triggers.map((trigger) => keyOf(owner, trigger))
    for (const key of keys) this.#ended.set(key, ts)
    return keys.map((key) => this.#drafts.delete(key)).includes(true)
  }

  /** Others may ask for the end of a run: its owner and the gateway end it. */
  #abandon(context: string, from: string, ts: string): boolean {
    const run = this.#runs.get(context)
    return run !== undefined && (from === run.owner || from === GATEWAY) && this.#end(run, ts)
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

/** What an answer has after what was shown of it, but for white space around it; `undefined` = it does not begin with that. */
export function remainingAnswer(answer: string, shown: string): string | undefined {
  const [whole, begun] = [answer.trimStart(), shown.trimStart()]
  if (whole.startsWith(begun)) return whole.slice(begun.length)
  return whole.trimEnd() === begun.trimEnd() ? '' : undefined
}
