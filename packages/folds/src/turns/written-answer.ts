import { Bounded } from '../bounded.js'
import { remainingAnswer } from '../space/answers.js'

/** The part of an answer that a reader has to add to what it shows. */
export interface AnswerPart {
  /** Number of the message in the answer, from 1. */
  readonly message: number
  /** Whether the part begins a new message, because the earlier text is not part of the answer. */
  readonly isNew: boolean
  readonly text: string
}

/** Maximum characters of remembered messages. */
const maxChars = 1_000_000

/**
 * An answer for readers that cannot retract shown text: text that the answer does not continue stays a separate message, and no
 * text is shown twice.
 */
export class WrittenAnswer {
  #messages = 0
  /** The last message that was shown. It may still grow. */
  #shown: string | undefined
  readonly #texts = new Bounded<number>(maxChars, (length) => length)

  /**
   * Adds the text of an answer in progress; returns the part to show, or `undefined` if there is none. After `max` messages,
   * the rest waits until the answer is complete.
   */
  grow(text: string, max: number): AnswerPart | undefined {
    const shown = this.#shown
    if (shown?.trimStart().startsWith(text.trimStart())) return undefined
    const rest = shown === undefined ? undefined : remainingAnswer(text, shown)
    if (rest === undefined) return this.#messages < max ? this.#add(text, true) : undefined
    return rest === '' ? undefined : this.#add(rest, false)
  }

  /** Adds the complete answer; returns the part to show, with an empty text if all of it was shown. */
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
