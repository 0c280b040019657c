import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { remainingAnswer } from '@meup/folds'
import { chunk } from './content.js'

/** An answer that starts over more often is shown when it is there. */
const maxMessages = 16

/**
 * An answer as it is written, as chunks of messages. A client cannot be made to take anything back: text that the answer does not
 * begin with stays, as a message of its own, as what an agent says before it calls a tool does in ACP. No text is sent twice.
 */
export class AnswerText {
  readonly #question: string
  /** Texts of the messages; the last one may grow. */
  readonly #texts: string[] = []

  constructor(question: string) {
    this.#question = question
  }

  /** What is written so far has become this. */
  grow(text: string): SessionUpdate[] {
    const shown = this.#texts.at(-1) ?? ''
    if (shown.startsWith(text)) return []
    if (shown !== '' && text.startsWith(shown)) return this.#extend(text.slice(shown.length))
    return this.#texts.length < maxMessages ? this.#begin(text) : []
  }

  /** The answer is this. */
  complete(text: string): SessionUpdate[] {
    const shown = this.#texts.at(-1)
    const rest = shown === undefined ? undefined : remainingAnswer(text, shown)
    if (rest === undefined) return text === '' ? [] : this.#begin(text)
    return rest === '' ? [] : this.#extend(rest)
  }

  /** Whether this text was sent: a thought is, if it was written as an answer at first. */
  has(text: string): boolean {
    return this.#texts.some((sent) => sent.trim() === text)
  }

  #begin(text: string): SessionUpdate[] {
    // Clients without ids of messages join them.
    const gap = this.#texts.length === 0 ? '' : '\n\n'
    this.#texts.push(text)
    return [this.#chunk(`${gap}${text}`)]
  }

  #extend(text: string): SessionUpdate[] {
    this.#texts.push(`${this.#texts.pop() ?? ''}${text}`)
    return [this.#chunk(text)]
  }

  #chunk(text: string): SessionUpdate {
    return chunk('agent_message_chunk', text, `${this.#question}-${this.#texts.length}`)
  }
}
