import { Bounded } from '../bounded.js'
import { remainingAnswer } from '../space/answers.js'

/** What a reader has to add to what it shows of an answer. */
export interface AnswerPart {
  /** Number of the message that it belongs to, from 1. */
  readonly message: number
  /** Whether the message begins with it: what was shown before is no part of the answer. */
  readonly isNew: boolean
  readonly text: string
}

/** Characters of messages that are remembered. */
const maxChars = 1_000_000

/**
 * An answer for readers who cannot take back what they show: text that it does not begin with stays a message of its own, and no text
 * comes twice.
 */
export class WrittenAnswer {
  #messages = 0
  /** The last message, which may grow. */
  #shown: string | undefined
  readonly #texts = new Bounded<number>(maxChars, (length) => length)

  /** What is written so far. `undefined` = there is nothing to add; messages after `max` wait until the answer is there. */
  grow(text: string, max: number): AnswerPart | undefined {
    const shown = this.#shown
    if (shown?.trimStart().startsWith(text.trimStart())) return undefined
    const rest = shown === undefined ? undefined : remainingAnswer(text, shown)
    if (rest === undefined) return this.#messages < max ? this.#add(text, true) : undefined
    return rest === '' ? undefined : this.#add(rest, false)
  }

  /** The answer is this. Its part is empty where all of it was shown. */
  complete(text: string): AnswerPart {
    const rest = this.#shown === undefined ? undefined : remainingAnswer(text, this.#shown)
    return this.#add(rest ?? text, rest === undefined)
  }

  /** Whether this text was a message: a thought is, if it was written as an answer at first. */
  has(text: string): boolean {
    return this.#texts.get(text.trim()) !== undefined
  }

  #add(text: string, isNew: boolean): AnswerPart {
    if (isNew) this.#messages++
    else this.#texts.delete((this.#shown ?? '').trim())
    this.#shown = isNew ? text : `${this.#shown ?? ''}${text}`
    this.#texts.set(this.#shown.trim(), this.#shown.length)
    return { message: this.#messages, isNew, text }
  }
}
