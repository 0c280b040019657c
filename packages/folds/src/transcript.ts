import { correlations, type Envelope, Kind } from '@meup/protocol'
import { Bounded } from './bounded.js'
import { type Fold, FoldProgress } from './fold.js'
import { payloadText } from './payload-text.js'
import { getSource, type Source } from './source.js'

/** A chat of the main conversation. */
export interface TranscriptMessage {
  readonly source: Source
  readonly ts: string
  readonly text: string
  readonly format: 'plain' | 'markdown'
  /** Ids of the messages that this one answers. */
  readonly answers: readonly string[]
  /** The first 100 participants that acknowledged the message. */
  readonly acknowledgedBy: readonly string[]
  /** Whether the sender has retracted the message. */
  readonly isTakenBack: boolean
}

export interface TranscriptSnapshot {
  readonly seq: number
  readonly messages: readonly (readonly [id: string, message: TranscriptMessage])[]
}

export interface SpaceTranscript extends Fold<readonly TranscriptMessage[], TranscriptSnapshot> {
  /** The latest messages, oldest first. */
  messages(): readonly TranscriptMessage[]
}

/** Default capacity, in characters of text. */
const defaultCapacityChars = 4e6
const maxAcknowledgements = 100

/** Folds the chats of the main conversation; a change is the list of new and changed messages. */
export const createTranscript = (capacity: number = defaultCapacityChars): SpaceTranscript =>
  new Conversation(capacity)

class Conversation implements SpaceTranscript {
  readonly #progress = new FoldProgress()
  readonly #messages: Bounded<TranscriptMessage>

  constructor(capacity: number) {
    this.#messages = new Bounded<TranscriptMessage>(capacity, ({ text }) => 500 + text.length)
  }

  get seq(): number {
    return this.#progress.seq
  }

  apply(envelope: Envelope): readonly TranscriptMessage[] {
    if (!this.#progress.advance(envelope)) return []
    const changed = this.#onEnvelope(envelope)
    for (const message of changed) this.#messages.set(message.source.id, message)
    return changed
  }

  snapshot(): TranscriptSnapshot {
    return { seq: this.seq, messages: this.#messages.snapshot() }
  }

  restore({ seq, messages }: TranscriptSnapshot): void {
    this.#progress.seq = seq
    this.#messages.restore(messages)
  }

  messages(): readonly TranscriptMessage[] {
    return [...this.#messages.values()]
  }

  #onEnvelope(envelope: Envelope): readonly TranscriptMessage[] {
    const { kind, context, from } = envelope
    if (kind === Kind.chat && context === undefined) return [toMessage(envelope)]
    const concerned = correlations(envelope).flatMap((id) => this.#messages.get(id) ?? [])
    if (kind === Kind.chatAcknowledge) {
      return concerned
        .filter(
          ({ acknowledgedBy }) =>
            !acknowledgedBy.includes(from) && acknowledgedBy.length < maxAcknowledgements,
        )
        .map((message) => ({ ...message, acknowledgedBy: [...message.acknowledgedBy, from] }))
    }
    if (kind !== Kind.chatCancel) return []
    return concerned
      .filter(({ source }) => source.from === from)
      .map((message) => ({ ...message, isTakenBack: true }))
  }
}

const toMessage = (envelope: Envelope): TranscriptMessage => ({
  source: getSource(envelope),
  ts: envelope.ts,
  text: payloadText(envelope.payload),
  format: envelope.payload.format === 'markdown' ? 'markdown' : 'plain',
  answers: correlations(envelope),
  acknowledgedBy: [],
  isTakenBack: false,
})
