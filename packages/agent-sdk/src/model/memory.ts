import { createTranscript, type Message } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'

/** A message of the main conversation. `from` = `undefined`: it was said by the agent itself. */
export interface Remembered {
  readonly from: string | undefined
  readonly text: string
}

/** Characters of the conversation that are remembered. */
const maxChars = 1e6

/** What was said in the main conversation, as far as this participant was shown it. */
export class Memory {
  readonly #self: string
  readonly #maxMessages: number
  #transcript = createTranscript(maxChars)

  /** `maxMessages`: how many messages `before` returns. */
  constructor(self: string, maxMessages: number) {
    this.#self = self
    this.#maxMessages = maxMessages
  }

  onEnvelope(envelope: AnyEnvelope): void {
    if (envelope.seq !== undefined) this.#transcript.apply(envelope)
  }

  /**
   * What was said before this message, the oldest first. What was not for everyone is recalled for those who know it, where
   * the answer is for them alone.
   */
  before({ id, from, to }: Pick<AnyEnvelope, 'id' | 'from' | 'to'>): Remembered[] {
    const all = this.#transcript.messages()
    const end = all.findIndex(({ source }) => source.id === id)
    const mayRecall = (source: Message['source']): boolean =>
      source.to === undefined || (to !== undefined && [source.from, ...source.to].includes(from))
    const known = all
      .slice(0, end < 0 ? all.length : end)
      .filter(({ source, isTakenBack }) => !isTakenBack && mayRecall(source))
    return known.slice(Math.max(0, known.length - this.#maxMessages)).map(({ source, text }) => ({
      from: source.from === this.#self ? undefined : source.from,
      text,
    }))
  }

  forget(): void {
    this.#transcript = createTranscript(maxChars)
  }
}
