import { Bounded } from '../bounded.js'
import { remainingAnswer } from '../space/answers.js'

/** The part of an answer that a reader has to add to what it shows. */
export interface AnswerPart {
  /** Number of its message, from 1. */
  readonly message: number
  /** Whether it begins a message: the text before was not part of the answer. */
  readonly isNew: boolean
  readonly text: string
}

/** Characters of remembered messages. */
const maxChars = 1_000_000

/**
 * An answer for readers that cannot retract shown text: text that the answer does not continue stays a separate message, and no
 * text is shown twice.
 */
export class WrittenAnswer {
  #messages = 0
  /** The last message, which may grow. */
  #shown: string | undefined
  readonly #texts = new Bounded<number>(maxChars, (length) => length)

  /** The text so far. `undefined` = nothing to add; messages after `max` wait until the answer is complete. */
  grow(text: string, max: number): AnswerPart | undefined {
    const shown = this.#shown
    if (shown?.trimStart().startsWith(text.trimStart())) return undefined
    const rest = shown === undefined ? undefined : remainingAnswer(text, shown)
    if (rest === undefined) return this.#messages < max ? this.#add(text, true) : undefined
    return rest === '' ? undefined : this.#add(rest, false)
  }

  /** The complete answer. Its part is empty if all of it was shown. */
  complete(text: string): AnswerPart {
    const rest = this.#shown === undefined ? undefined : remainingAnswer(text, this.#shown)
    return this.#add(rest ?? text, rest === undefined)
  }

  /** Whether this text was shown: a thought may first have been shown as an answer. */
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
